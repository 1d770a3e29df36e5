// What upstream's types make of the samples, alone and through the server.
package api

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
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

func TestSamplesDecodeStrictlyAndEncodeToTheSame(t *testing.T) {
	decoder := strictDecoder()
	for _, sample := range world.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			typed, _, err := decoder.Decode(sample.Text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, got := plain(t, sample.Object.Object), withoutNullTimes(plain(t, typed))
			if diff := cmp.Diff(want, got); diff != "" {
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
			typed := decoded.(client.Object)
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
			if diff := cmp.Diff(plain(t, raw.Object), withoutNullTimes(plain(t, read))); diff != "" {
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
