//go:build pins

package main

// The program reads files of these modules and compiles nothing of them. The imports keep them in go.mod.
import (
	_ "github.com/kubernetes-csi/external-snapshot-metadata/client/apis/snapshotmetadataservice/v1alpha1"
	_ "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	_ "github.com/openshift/api/operator/v1"
)
