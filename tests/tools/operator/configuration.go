package main

import (
	operatorv1 "github.com/openshift/api/operator/v1"
	applyv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	goc "github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/utils/clock"
)

// configuration is the resource that configures an operator and has its status.
type configuration struct {
	client    v1helpers.OperatorClientWithFinalizers
	informers dynamicinformer.DynamicSharedInformerFactory
}

// kind tells how to read a kind of configuration.
type kind struct {
	resource, kind, name string
	spec                 goc.OperatorSpecExtractorFunc
	status               goc.OperatorStatusExtractorFunc
}

var (
	snapshotConfiguration = kind{
		"csisnapshotcontrollers", "CSISnapshotController", "cluster",
		specOf(applyv1.ExtractCSISnapshotController, func(it *applyv1.CSISnapshotControllerApplyConfiguration) *spec {
			return part(it.Spec, func(it *applyv1.CSISnapshotControllerSpecApplyConfiguration) *spec {
				return &it.OperatorSpecApplyConfiguration
			})
		}),
		statusOf(applyv1.ExtractCSISnapshotControllerStatus, func(it *applyv1.CSISnapshotControllerApplyConfiguration) *statuses {
			return part(it.Status, func(it *applyv1.CSISnapshotControllerStatusApplyConfiguration) *statuses {
				return &it.OperatorStatusApplyConfiguration
			})
		}),
	}
	storageConfiguration = kind{
		"storages", "Storage", "cluster",
		specOf(applyv1.ExtractStorage, func(it *applyv1.StorageApplyConfiguration) *spec {
			return part(it.Spec, func(it *applyv1.StorageSpecApplyConfiguration) *spec {
				return &it.OperatorSpecApplyConfiguration
			})
		}),
		statusOf(applyv1.ExtractStorageStatus, func(it *applyv1.StorageApplyConfiguration) *statuses {
			return part(it.Status, func(it *applyv1.StorageStatusApplyConfiguration) *statuses {
				return &it.OperatorStatusApplyConfiguration
			})
		}),
	}
	driverConfiguration = kind{
		"clustercsidrivers", "ClusterCSIDriver", driverName,
		specOf(applyv1.ExtractClusterCSIDriver, func(it *applyv1.ClusterCSIDriverApplyConfiguration) *spec {
			return part(it.Spec, func(it *applyv1.ClusterCSIDriverSpecApplyConfiguration) *spec {
				return &it.OperatorSpecApplyConfiguration
			})
		}),
		statusOf(applyv1.ExtractClusterCSIDriverStatus, func(it *applyv1.ClusterCSIDriverApplyConfiguration) *statuses {
			return part(it.Status, func(it *applyv1.ClusterCSIDriverStatusApplyConfiguration) *statuses {
				return &it.OperatorStatusApplyConfiguration
			})
		}),
	}
)

type (
	spec     = applyv1.OperatorSpecApplyConfiguration
	statuses = applyv1.OperatorStatusApplyConfiguration
)

// configure returns the client for the configuration of an operator.
func (c *clusters) configure(it kind) (*configuration, error) {
	client, informers, err := goc.NewClusterScopedOperatorClientWithConfigName(clock.RealClock{}, c.guestConfig,
		operatorv1.GroupVersion.WithResource(it.resource), operatorv1.GroupVersion.WithKind(it.kind), it.name,
		it.spec, it.status)
	return &configuration{client, informers}, err
}

// specOf returns a function that finds what a field manager applied to the spec.
func specOf[T, A any](extract func(*T, string) (*A, error), find func(*A) *spec) goc.OperatorSpecExtractorFunc {
	return func(object *unstructured.Unstructured, manager string) (*spec, error) {
		applied, err := applied(extract, object, manager)
		if err != nil {
			return nil, err
		}
		return find(applied), nil
	}
}

// statusOf returns a function that finds what a field manager applied to the status.
func statusOf[T, A any](extract func(*T, string) (*A, error), find func(*A) *statuses) goc.OperatorStatusExtractorFunc {
	return func(object *unstructured.Unstructured, manager string) (*statuses, error) {
		applied, err := applied(extract, object, manager)
		if err != nil {
			return nil, err
		}
		return find(applied), nil
	}
}

func applied[T, A any](extract func(*T, string) (*A, error), object *unstructured.Unstructured, manager string) (*A, error) {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.UnstructuredContent(), typed); err != nil {
		return nil, err
	}
	return extract(typed, manager)
}

// part returns nil for nil.
func part[A, B any](it *A, find func(*A) *B) *B {
	if it == nil {
		return nil
	}
	return find(it)
}
