// What upstream's types make of the samples, alone and through the server.
package api

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"theseus.test/clients/go/internal/world"
)

func strictDecoder() runtime.Decoder {
	return serializer.NewCodecFactory(world.Scheme(), serializer.EnableStrict).UniversalDeserializer()
}

// Through JSON, so that numbers of both sides are of one type.
func plain(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Typed objects cannot tell "no time" from null.
func withoutNullTimes(object map[string]any) map[string]any {
	for key, value := range object {
		switch value := value.(type) {
		case nil:
			if key == "creationTimestamp" {
				delete(object, key)
			}
		case map[string]any:
			withoutNullTimes(value)
		}
	}
	return object
}

// asWritten takes back what typed code writes in another form with the same meaning: durations, quantities, structs that are always there.
func asWritten(want, got any) any {
	switch got := got.(type) {
	case map[string]any:
		wanted, _ := want.(map[string]any)
		result := map[string]any{}
		for key, value := range got {
			value := asWritten(wanted[key], value)
			if _, found := wanted[key]; !found && cmp.Equal(value, map[string]any{}) {
				continue
			}
			result[key] = value
		}
		return result
	case []any:
		wanted, _ := want.([]any)
		result := make([]any, 0, len(got))
		for i, value := range got {
			var at any
			if i < len(wanted) {
				at = wanted[i]
			}
			result = append(result, asWritten(at, value))
		}
		return result
	case string:
		if number, ok := want.(float64); ok && strconv.FormatFloat(number, 'f', -1, 64) == got {
			return want
		}
		if text, ok := want.(string); ok {
			before, err1 := time.ParseDuration(text)
			after, err2 := time.ParseDuration(got)
			if err1 == nil && err2 == nil && before == after {
				return want
			}
		}
	}
	return got
}

// Upstream's webhooks fill in selectors, and there are none here.
func withSelector(object client.Object) client.Object {
	labels := map[string]string{clusterv1.MachineSetNameLabel: object.GetName()}
	switch object := object.(type) {
	case *clusterv1.MachineDeployment:
		if len(object.Spec.Selector.MatchLabels) == 0 {
			object.Spec.Selector.MatchLabels = labels
		}
	case *clusterv1.MachineSet:
		if len(object.Spec.Selector.MatchLabels) == 0 {
			object.Spec.Selector.MatchLabels = labels
		}
	}
	return object
}

func TestSamplesDecodeStrictlyAndEncodeToTheSame(t *testing.T) {
	decoder := strictDecoder()
	for _, sample := range world.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			typed, _, err := decoder.Decode(sample.Text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, got := plain(t, sample.Object.Object), withoutNullTimes(plain(t, typed))
			if diff := cmp.Diff(want, asWritten(want, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServerAnswersAreUpstreamsTypes(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	decoder := strictDecoder()
	for _, sample := range world.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			ensureNamespace(t, c, sample.Object.GetNamespace())
			decoded, kind, err := decoder.Decode(sample.Text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			typed := withSelector(decoded.(client.Object))
			if err := c.Create(ctx, typed, client.FieldValidation(metav1.FieldValidationStrict)); apierrors.IsAlreadyExists(err) {
				// The changes of the samples are the same objects again.
				err = c.Update(ctx, withVersion(t, c, typed))
				if err != nil {
					t.Fatal(err)
				}
			} else if err != nil {
				t.Fatal(err)
			}

			raw := &unstructured.Unstructured{}
			raw.SetGroupVersionKind(*kind)
			if err := c.Get(ctx, client.ObjectKeyFromObject(typed), raw); err != nil {
				t.Fatal(err)
			}
			text, err := raw.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			read, _, err := decoder.Decode(text, nil, nil)
			if err != nil {
				t.Fatalf("the server's answer has fields that upstream's type lacks: %v", err)
			}
			want := plain(t, raw.Object)
			if diff := cmp.Diff(want, asWritten(want, withoutNullTimes(plain(t, read)))); diff != "" {
				t.Errorf("encoding the server's answer changes it: %s", diff)
			}
			// What was sent, with its group and kind, is what was decoded from the answer of the write.
			typed.GetObjectKind().SetGroupVersionKind(*kind)
			if !reflect.DeepEqual(plain(t, typed), plain(t, read)) {
				t.Errorf("the answer of the write differs from a read: %s", cmp.Diff(plain(t, typed), plain(t, read)))
			}
		})
	}
}

func withVersion(t *testing.T, c client.Client, object client.Object) client.Object {
	t.Helper()
	stored := object.DeepCopyObject().(client.Object)
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(object), stored); err != nil {
		t.Fatal(err)
	}
	object.SetResourceVersion(stored.GetResourceVersion())
	return object
}

func ensureNamespace(t *testing.T, c client.Client, name string) {
	t.Helper()
	if name == "" {
		return
	}
	err := c.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
