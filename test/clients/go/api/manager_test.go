// A manager as operators run it: caches, leader election, one reconciler.
package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"theseus.test/clients/go/internal/world"
)

const limit = 30 * time.Second

func init() {
	log.SetLogger(logr.Discard())
}

func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, limit, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestInformerCacheSyncs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := newClient(t)
	for i := range 50 {
		created(t, c, machine("cached", fmt.Sprintf("m%d", i)))
	}
	informers, err := cache.New(config, cache.Options{Scheme: world.Scheme(), DefaultNamespaces: map[string]cache.Config{"cached": {}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := informers.IndexField(ctx, &clusterv1.Machine{}, "spec.version", func(object client.Object) []string {
		return []string{object.(*clusterv1.Machine).Spec.Version}
	}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(ctx) }()
	synced, stop := context.WithTimeout(ctx, limit)
	defer stop()
	if !informers.WaitForCacheSync(synced) {
		t.Fatal("the cache did not sync")
	}
	count := func(version string) int {
		list := &clusterv1.MachineList{}
		if err := informers.List(ctx, list, client.MatchingFields{"spec.version": version}); err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	if found := count("v1.35.0"); found != 50 {
		t.Errorf("the synced cache holds %d machines", found)
	}
	changed := machine("cached", "m7")
	if err := c.Get(ctx, client.ObjectKeyFromObject(changed), changed); err != nil {
		t.Fatal(err)
	}
	changed.Spec.Version = "v1.36.0"
	if err := c.Update(ctx, changed); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, machine("cached", "m8")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a change and a deletion reach the cache", func(context.Context) (bool, error) {
		return count("v1.36.0") == 1 && count("v1.35.0") == 48, nil
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// finalizing puts a finalizer on Machines, mirrors their version into their status, owns a ConfigMap beside each.
type finalizing struct{ client.Client }

const finalizer = "tests.example.com/finalizer"

func (r finalizing) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	m := &clusterv1.Machine{}
	if err := r.Get(ctx, request.NamespacedName, m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !m.DeletionTimestamp.IsZero() {
		before := m.DeepCopy()
		controllerutil.RemoveFinalizer(m, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, m, client.MergeFrom(before)))
	}
	if controllerutil.AddFinalizer(m, finalizer) {
		return ctrl.Result{}, r.Update(ctx, m)
	}
	beside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, beside, func() error {
		beside.Data = map[string]string{"version": m.Spec.Version}
		return controllerutil.SetControllerReference(m, beside, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if m.Status.NodeRef.Name == m.Spec.Version {
		return ctrl.Result{}, nil
	}
	before := m.DeepCopy()
	m.Status.NodeRef.Name = m.Spec.Version
	return ctrl.Result{}, r.Status().Patch(ctx, m, client.MergeFrom(before))
}

func newManager(t *testing.T, namespace, name string) manager.Manager {
	t.Helper()
	lease, renew, retryPeriod := 4*time.Second, 3*time.Second, 200*time.Millisecond
	skip := true
	options := ctrl.Options{
		Scheme:                        world.Scheme(),
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "machines",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retryPeriod,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	}
	options.Controller.SkipNameValidation = &skip
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		t.Fatal(err)
	}
	err = ctrl.NewControllerManagedBy(m).Named(name).For(&clusterv1.Machine{}).Owns(&corev1.ConfigMap{}).Complete(finalizing{m.GetClient()})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManagerWithLeaderElection(t *testing.T) {
	c := newClient(t)
	ensureNamespace(t, c, "managed")
	first := newManager(t, "managed", "first")
	second := newManager(t, "managed", "second")
	run := func(m manager.Manager) (stop func() error) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- m.Start(ctx) }()
		return func() error {
			cancel()
			select {
			case err := <-ended:
				return err
			case <-time.After(limit):
				return errors.New("the manager did not stop")
			}
		}
	}
	stopFirst := run(first)
	<-first.Elected()
	stopSecond := run(second)

	mirrored := func(name, version string) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			m, beside := &clusterv1.Machine{}, &corev1.ConfigMap{}
			key := client.ObjectKey{Namespace: "managed", Name: name}
			if err := c.Get(ctx, key, m); err != nil {
				return false, err
			}
			if err := c.Get(ctx, key, beside); err != nil {
				return false, client.IgnoreNotFound(err)
			}
			return m.Status.NodeRef.Name == version && beside.Data["version"] == version, nil
		}
	}
	created(t, c, machine("managed", "m1"))
	eventually(t, "the first manager reconciles", mirrored("m1", "v1.35.0"))
	select {
	case <-second.Elected():
		t.Error("two leaders at once")
	default:
	}
	if err := stopFirst(); err != nil {
		t.Errorf("stopping the first: %v", err)
	}
	select {
	case <-second.Elected():
	case <-time.After(limit):
		t.Fatal("nobody took over")
	}
	lease := &coordinationv1.Lease{}
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: "managed", Name: "machines"}, lease); err != nil || *lease.Spec.LeaseTransitions < 1 {
		t.Errorf("lease %+v, %v", lease.Spec, err)
	}
	m := machine("managed", "m2")
	m.Spec.Version = "v1.36.0"
	created(t, c, m)
	eventually(t, "the second manager reconciles", mirrored("m2", "v1.36.0"))

	for _, name := range []string{"m1", "m2"} {
		if err := c.Delete(context.Background(), machine("managed", name)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "finalizers go, then the machines, then what they owned", func(ctx context.Context) (bool, error) {
		for _, name := range []string{"m1", "m2"} {
			key := client.ObjectKey{Namespace: "managed", Name: name}
			for _, object := range []client.Object{&clusterv1.Machine{}, &corev1.ConfigMap{}} {
				if err := c.Get(ctx, key, object); !apierrors.IsNotFound(err) {
					return false, err
				}
			}
		}
		return true, nil
	})
	if err := stopSecond(); err != nil {
		t.Errorf("stopping the second: %v", err)
	}
}
