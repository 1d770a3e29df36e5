// Package world starts the server under test and names the kinds. It holds no tests.
package world

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
)

const (
	startLimit = 60 * time.Second
	stopLimit  = 10 * time.Second
)

// Root is the repository, seen from a package two folders below this module.
func Root() string {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		panic(err)
	}
	return root
}

// Node is the pinned Node.js of the repository, or the one of the machine.
func Node() string {
	pinned := filepath.Join(Root(), "node_modules", ".bin", "node")
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	return "node"
}

// Scheme knows every kind of the samples and Kubernetes' own.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		clusterv1.AddToScheme,
		bootstrapv1.AddToScheme,
		controlplanev1.AddToScheme,
		runtimev1.AddToScheme,
		infrav1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// Serve runs `theseus apiserver` with the CRDs of manifests/crd, then the tests. It returns the exit code.
func Serve(m *testing.M, use func(*rest.Config)) int {
	directory, err := os.MkdirTemp("", "theseus-go-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(directory)
	kubeconfig := filepath.Join(directory, "kubeconfig")
	server := exec.Command(Node(), "--disable-warning=ExperimentalWarning", filepath.Join(Root(), "cmd", "main.ts"), "apiserver",
		"--secure-port=0", "--kubeconfig-out="+kubeconfig, "--crd-dir="+filepath.Join(Root(), "manifests", "crd"))
	server.Stderr = os.Stderr
	output, err := server.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := server.Start(); err != nil {
		return fail(err)
	}
	defer stop(server)
	if err := untilReady(bufio.NewScanner(output)); err != nil {
		return fail(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fail(err)
	}
	config.QPS, config.Burst = 500, 500
	use(config)
	return m.Run()
}

func untilReady(lines *bufio.Scanner) error {
	ready := make(chan error, 1)
	go func() {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "ready ") {
				ready <- nil
				return
			}
		}
		ready <- fmt.Errorf("the server ended before it was ready: %v", lines.Err())
	}()
	select {
	case err := <-ready:
		return err
	case <-time.After(startLimit):
		return fmt.Errorf("the server was not ready within %s", startLimit)
	}
}

func stop(server *exec.Cmd) {
	_ = server.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(stopLimit, func() { _ = server.Process.Kill() })
	_ = server.Wait()
	timer.Stop()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
