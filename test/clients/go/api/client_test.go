// controller-runtime's client against the server: typed writes, status, apply, faults that typed code tells apart.
package api

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"theseus.test/clients/go/internal/world"
)

var config *rest.Config

func TestMain(m *testing.M) {
	os.Exit(world.Serve(m, func(found *rest.Config) { config = found }))
}

func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: world.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func machine(namespace, name string) *clusterv1.Machine {
	secret := "boot"
	return &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Spec: clusterv1.MachineSpec{
			ClusterName: "c1",
			Version:     "v1.35.0",
			Bootstrap:   clusterv1.Bootstrap{DataSecretName: &secret},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: name,
			},
		},
	}
}

func created(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	ensureNamespace(t, c, object.GetNamespace())
	if err := c.Create(context.Background(), object); err != nil {
		t.Fatal(err)
	}
}

func TestTypedCreateReadUpdateDelete(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	m := machine("typed", "m1")
	created(t, c, m)
	if m.UID == "" || m.ResourceVersion == "" || m.Generation != 1 || m.CreationTimestamp.IsZero() {
		t.Errorf("server-owned metadata is missing: %+v", m.ObjectMeta)
	}
	if err := c.Create(ctx, machine("typed", "m1")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second create: %v", err)
	}
	old := m.DeepCopy()
	m.Spec.Version = "v1.36.0"
	if err := c.Update(ctx, m); err != nil {
		t.Fatal(err)
	}
	if m.Generation != 2 {
		t.Errorf("generation after a change of spec: %d", m.Generation)
	}
	old.Spec.Version = "v1.36.1"
	if err := c.Update(ctx, old); !apierrors.IsConflict(err) {
		t.Errorf("update from an old version: %v", err)
	}
	if err := c.Delete(ctx, m, client.Preconditions{UID: &m.UID}); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(m), m); !apierrors.IsNotFound(err) {
		t.Errorf("read after delete: %v", err)
	}
}

func TestInvalidObjectsAreRefusedByField(t *testing.T) {
	c := newClient(t)
	m := machine("typed", "bad")
	m.Spec.ClusterName = ""
	m.Spec.InfrastructureRef.Kind = "not a kind"
	ensureNamespace(t, c, "typed")
	err := c.Create(context.Background(), m)
	if !apierrors.IsInvalid(err) {
		t.Fatalf("want Invalid, got %v", err)
	}
	fields := map[string]bool{}
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		fields[cause.Field] = true
	}
	if !fields["spec.infrastructureRef.kind"] || !fields["spec.clusterName"] {
		t.Errorf("causes name %v", fields)
	}
}

func TestStatusPatch(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	m := machine("typed", "status")
	created(t, c, m)
	before := m.DeepCopy()
	m.Status.Phase = string(clusterv1.MachinePhaseRunning)
	m.Spec.Version = "v9.9.9" // not part of the status: must not be stored
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Tested"})
	if err := c.Status().Patch(ctx, m, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	read := &clusterv1.Machine{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(m), read); err != nil {
		t.Fatal(err)
	}
	if read.Status.Phase != "Running" || !meta.IsStatusConditionTrue(read.Status.Conditions, "Ready") {
		t.Errorf("status is %+v", read.Status)
	}
	if read.Spec.Version != "v1.35.0" || read.Generation != 1 {
		t.Errorf("a status patch changed the spec: %s, generation %d", read.Spec.Version, read.Generation)
	}
	stale := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	read.ResourceVersion = before.ResourceVersion
	read.Status.Phase = "Failed"
	if err := c.Status().Patch(ctx, read, stale); !apierrors.IsConflict(err) {
		t.Errorf("patch with an optimistic lock on an old version: %v", err)
	}
}

func TestServerSideApply(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	ensureNamespace(t, c, "apply")
	apply := func(data map[string]string, owner string, options ...client.ApplyOption) error {
		wanted := corev1apply.ConfigMap("settings", "apply").WithData(data)
		return c.Apply(ctx, wanted, append(options, client.FieldOwner(owner))...)
	}
	if err := apply(map[string]string{"a": "1", "b": "1"}, "one"); err != nil {
		t.Fatal(err)
	}
	if err := apply(map[string]string{"b": "2"}, "two"); !apierrors.IsConflict(err) {
		t.Fatalf("want a conflict, got %v", err)
	}
	if err := apply(map[string]string{"b": "2"}, "two", client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if err := apply(map[string]string{}, "one"); err != nil {
		t.Fatal(err)
	}
	found := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "apply", Name: "settings"}, found); err != nil {
		t.Fatal(err)
	}
	if len(found.Data) != 1 || found.Data["b"] != "2" {
		t.Errorf("data is %v", found.Data)
	}
}

func TestServerSideApplyOfCustomResources(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	ensureNamespace(t, c, "apply")
	wanted := func(commands ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": bootstrapv1.GroupVersion.String(),
			"kind":       "KubeadmConfig",
			"metadata":   map[string]any{"namespace": "apply", "name": "boot"},
			"spec":       map[string]any{"preKubeadmCommands": commands},
		}}
	}
	for _, commands := range [][]any{{"one"}, {"one", "two"}} {
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted(commands...)), client.FieldOwner("manager"), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
	}
	found := &bootstrapv1.KubeadmConfig{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "apply", Name: "boot"}, found); err != nil {
		t.Fatal(err)
	}
	if len(found.Spec.PreKubeadmCommands) != 2 || len(found.ManagedFields) != 1 || found.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("spec %v, managed by %v", found.Spec.PreKubeadmCommands, found.ManagedFields)
	}
	last := found.ResourceVersion
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted("one", "two")), client.FieldOwner("manager")); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil || found.ResourceVersion != last {
		t.Errorf("an apply that changes nothing wrote version %s after %s (%v)", found.ResourceVersion, last, err)
	}
}

func TestConcurrentUpdatesAllArrive(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	created(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "typed", Name: "counted"}})
	const writers = 16
	faults := make(chan error, writers)
	for writer := range writers {
		go func() {
			faults <- retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
				before := &corev1.ConfigMap{}
				if err := c.Get(ctx, client.ObjectKey{Namespace: "typed", Name: "counted"}, before); err != nil {
					return err
				}
				after := before.DeepCopy()
				if after.Data == nil {
					after.Data = map[string]string{}
				}
				after.Data[string(rune('a'+writer))] = "there"
				return c.Patch(ctx, after, client.StrategicMergeFrom(before))
			})
		}()
	}
	for range writers {
		if err := <-faults; err != nil {
			t.Error(err)
		}
	}
	found := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "typed", Name: "counted"}, found); err != nil || len(found.Data) != writers {
		t.Errorf("%d of %d writes are there (%v)", len(found.Data), writers, err)
	}
}

func TestListByLabelInPages(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	for _, name := range []string{"p1", "p2", "p3"} {
		created(t, c, machine("pages", name))
	}
	list := &clusterv1.MachineList{}
	var names []string
	for first := true; first || list.Continue != ""; first = false {
		err := c.List(ctx, list, client.InNamespace("pages"), client.MatchingLabels{clusterv1.ClusterNameLabel: "c1"}, client.Limit(2), client.Continue(list.Continue))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			names = append(names, item.Name)
		}
	}
	if len(names) != 3 {
		t.Errorf("pages hold %v", names)
	}
}
