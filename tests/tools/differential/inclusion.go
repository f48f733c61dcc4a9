package main

import (
	"bytes"
	"encoding/json"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/manifest"
	"k8s.io/apimachinery/pkg/util/sets"
)

// filters are the cluster-version-operator's settings that decide which manifests it includes. A filter that is
// not set is off.
type filters struct {
	ExcludeIdentifier *string                      `json:"excludeIdentifier"`
	FeatureSet        *string                      `json:"featureSet"`
	FeatureGates      *[]string                    `json:"featureGates"`
	MajorVersion      *uint64                      `json:"majorVersion"`
	ClusterProfile    *string                      `json:"clusterProfile"`
	Capabilities      *capabilities                `json:"capabilities"`
	Overrides         []configv1.ComponentOverride `json:"overrides"`
}

type capabilities struct {
	Enabled []configv1.ClusterVersionCapability `json:"enabled"`
	Known   []configv1.ClusterVersionCapability `json:"known"`
}

// include returns for each manifest of a file the reason why the cluster-version-operator excludes it, and an empty
// text for one that it includes.
func include(fields [][]byte) ([]byte, error) {
	var settings filters
	if err := json.Unmarshal(fields[0], &settings); err != nil {
		return nil, err
	}
	manifests, err := manifest.ParseManifests(bytes.NewReader(fields[1]))
	if err != nil {
		return nil, err
	}
	reasons := []string{}
	for index := range manifests {
		reason := ""
		if err := settings.include(&manifests[index]); err != nil {
			reason = err.Error()
		}
		reasons = append(reasons, reason)
	}
	return json.Marshal(reasons)
}

func (settings *filters) include(candidate *manifest.Manifest) error {
	var enabledGates sets.Set[string]
	if settings.FeatureGates != nil {
		enabledGates = sets.New(*settings.FeatureGates...)
	}
	var status *configv1.ClusterVersionCapabilitiesStatus
	if settings.Capabilities != nil {
		status = &configv1.ClusterVersionCapabilitiesStatus{
			EnabledCapabilities: settings.Capabilities.Enabled,
			KnownCapabilities:   settings.Capabilities.Known,
		}
	}
	return candidate.Include(
		settings.ExcludeIdentifier,
		settings.FeatureSet,
		settings.ClusterProfile,
		status,
		settings.Overrides,
		enabledGates,
		settings.MajorVersion,
	)
}
