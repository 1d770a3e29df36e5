// A suite as `kubebuilder` users write it: envtest starts the control plane from hack/envtest-assets and installs CRDs.
package envtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"theseus.test/clients/go/internal/world"
)

var (
	environment *envtest.Environment
	config      *rest.Config
	admin       client.Client
)

func newEnvironment() *envtest.Environment {
	return &envtest.Environment{
		BinaryAssetsDirectory: filepath.Join(world.Root(), "hack", "envtest-assets"),
		CRDDirectoryPaths:     []string{filepath.Join(world.Root(), "manifests", "crd")},
		ErrorIfCRDPathMissing: true,
	}
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	environment = newEnvironment()
	var err error
	if config, err = environment.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if admin, err = client.New(config, client.Options{Scheme: world.Scheme()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := environment.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestInstalledCRDsServe(t *testing.T) {
	ctx := context.Background()
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Name: "c",
		}},
	}
	if err := admin.Create(ctx, cluster); err != nil {
		t.Fatal(err)
	}
	if err := admin.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Error(err)
	}
}

// Without a controller manager nobody cleans up, in envtest as here.
func TestNothingRunsInTheBackground(t *testing.T) {
	ctx := context.Background()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	if err := admin.Create(ctx, owner); err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	if err := admin.Create(ctx, owned); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(ctx, owner); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := admin.Get(ctx, client.ObjectKeyFromObject(owned), owned); err != nil {
		t.Errorf("the owned object: %v", err)
	}
}

func TestUsersHaveCertificatesAndRights(t *testing.T) {
	ctx := context.Background()
	user, err := environment.AddUser(envtest.User{Name: "reader", Groups: []string{"readers"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	read, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(read, client.Options{Scheme: world.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.List(ctx, &corev1.SecretList{}, client.InNamespace("default")); !apierrors.IsForbidden(err) {
		t.Fatalf("without rights: %v", err)
	}
	objects := []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "secret-reader"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "secret-readers"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "secret-reader"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}},
		},
	}
	for _, object := range objects {
		if err := admin.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.List(ctx, &corev1.SecretList{}, client.InNamespace("default")); err != nil {
		t.Errorf("with rights: %v", err)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Resource: "secrets"},
	}}
	if err := c.Create(ctx, review); err != nil || review.Status.Allowed {
		t.Errorf("review says allowed=%v (%v)", review.Status.Allowed, err)
	}
}

func TestCRDsComeAndGo(t *testing.T) {
	ctx := context.Background()
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "widgets.yaml")}}
	if _, err := envtest.InstallCRDs(config, options); err != nil {
		t.Fatal(err)
	}
	widget := newWidget("w1", 3)
	if err := admin.Create(ctx, widget); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(ctx, newWidget("w2", 0)); !apierrors.IsInvalid(err) {
		t.Errorf("a size below the minimum: %v", err)
	}
	if err := envtest.UninstallCRDs(config, options); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := admin.Get(ctx, client.ObjectKeyFromObject(widget), newWidget("w1", 0))
		if apierrors.IsNotFound(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the kind is still served: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// An API server that is stopped and started again finds its objects in the same etcd.
func TestObjectsOutliveTheAPIServer(t *testing.T) {
	ctx := context.Background()
	other := newEnvironment()
	if _, err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Stop(); err != nil {
			t.Error(err)
		}
	}()
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}, Data: map[string]string{"a": "b"}}
	before, err := client.New(other.Config, client.Options{Scheme: world.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Create(ctx, kept); err != nil {
		t.Fatal(err)
	}
	server := other.ControlPlane.GetAPIServer()
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := before.Get(ctx, client.ObjectKeyFromObject(kept), kept); err == nil {
		t.Error("a stopped API server answers")
	}
	server.Authn = nil // its folder is gone, so it provisions users anew
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	user, err := other.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := client.New(user.Config(), client.Options{Scheme: world.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	found := &corev1.ConfigMap{}
	if err := after.Get(ctx, client.ObjectKeyFromObject(kept), found); err != nil || found.UID != kept.UID {
		t.Errorf("found %v (%v), want uid %s", found.UID, err, kept.UID)
	}
}
