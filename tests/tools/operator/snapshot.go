package main

import (
	"context"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivercontrollerservicecontroller"
	"github.com/openshift/library-go/pkg/operator/deploymentcontroller"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/management"
	"github.com/openshift/library-go/pkg/operator/managementstatecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/utils/clock"
)

const snapshotController = "csi-snapshot-controller"

// startSnapshotOperator plays csi-snapshot-controller-operator: it creates the snapshot controller in the management
// cluster and the CRDs in the guest, and removes the webhook of older releases. Only transship collects the metrics of the
// controller.
func startSnapshotOperator(ctx context.Context, c *clusters, folder string) error {
	configuration, err := c.configure(snapshotConfiguration)
	if err != nil {
		return err
	}
	client := configuration.client
	inManagement, err := readAssets(folder, managementProfile, snapshotController)
	if err != nil {
		return err
	}
	inGuest, err := readAssets(folder, guestProfile, snapshotController)
	if err != nil {
		return err
	}
	nodes := c.guest.informers.InformersFor("").Core().V1().Nodes().Informer()
	deployment, err := c.deployment("CSISnapshotController", inManagement, client, nodes)
	if err != nil {
		return err
	}
	controller, err := deployment.WithConditions(operatorv1.OperatorStatusTypeAvailable,
		operatorv1.OperatorStatusTypeProgressing, operatorv1.OperatorStatusTypeDegraded).ToController()
	if err != nil {
		return err
	}
	removal, err := c.webhookRemoval(client, folder)
	if err != nil {
		return err
	}
	management.SetOperatorNotRemovable()
	versions := status.NewVersionGetter()
	c.run(ctx, configuration,
		staticresourcecontroller.NewStaticResourceController("CSISnapshotStaticResourceController",
			inManagement.get, inManagement.of("PodDisruptionBudget", "ServiceAccount"),
			c.management.holder(), client, c.management.recorder,
		).AddKubeInformers(c.management.informers),
		staticresourcecontroller.NewStaticResourceController("CSISnapshotGuestStaticResourceController",
			inGuest.get, inGuest.of("CustomResourceDefinition"),
			c.guest.holder().WithAPIExtensionsClient(c.apiExtensions), client, c.guest.recorder,
		).AddKubeInformers(c.guest.informers),
		controller,
		removal,
		c.versionsOf("CSISnapshotController", snapshotController, client, versions),
		c.clusterOperator(snapshotController, client, versions, configv1.ObjectReference{
			Group: operatorv1.GroupName, Resource: "csisnapshotcontrollers", Name: "cluster",
		}),
		loglevel.NewClusterOperatorLoggingController(client, c.guest.recorder),
		managementstatecontroller.NewOperatorManagementStateController(snapshotController, client, c.guest.recorder),
	)
	return nil
}

// deployment returns the controller of the only Deployment of some assets, as the operators of a hosted cluster set it up.
func (c *clusters) deployment(
	name string, of *assets, client v1helpers.OperatorClientWithFinalizers, also ...factory.Informer,
) (*deploymentcontroller.DeploymentController, error) {
	asset, err := of.one("Deployment")
	if err != nil {
		return nil, err
	}
	manifest, err := of.get(asset)
	if err != nil {
		return nil, err
	}
	deployments := c.management.informers.InformersFor(c.namespace).Apps().V1().Deployments()
	return deploymentcontroller.NewDeploymentControllerBuilder(
		name, manifest, c.management.recorder, client, c.management.kube, deployments,
	).WithExtraInformers(append(also,
		c.configInformers.Config().V1().Infrastructures().Informer(),
		c.hostedControlPlanes.Informer(),
	)...).WithDeploymentHooks(
		csidrivercontrollerservicecontroller.WithControlPlaneTopologyHook(c.configInformers),
		c.onNodesOfTheHostedControlPlane,
	), nil
}

// clusterOperator returns the controller that writes the ClusterOperator.
func (c *clusters) clusterOperator(
	name string, client v1helpers.OperatorClient, versions status.VersionGetter, about ...configv1.ObjectReference,
) runner {
	related := append([]configv1.ObjectReference{{Resource: "namespaces", Name: operatorsIn}}, about...)
	return status.NewClusterOperatorStatusController(name, related, c.config.ConfigV1(),
		c.configInformers.Config().V1().ClusterOperators(), client, versions, c.guest.recorder, clock.RealClock{})
}

// versionsOf returns a controller that reports the version of an operand once its Deployment is rolled out.
func (c *clusters) versionsOf(
	prefix, operand string, client v1helpers.OperatorClient, versions status.VersionGetter,
) runner {
	sync := func(context.Context, factory.SyncContext) error {
		_, live, _, err := client.GetOperatorState()
		if err != nil {
			return err
		}
		if v1helpers.IsOperatorConditionTrue(live.Conditions, prefix+operatorv1.OperatorStatusTypeAvailable) &&
			v1helpers.IsOperatorConditionFalse(live.Conditions, prefix+operatorv1.OperatorStatusTypeProgressing) {
			versions.SetVersion("operator", operatorVersion())
			versions.SetVersion(operand, operatorVersion())
		}
		return nil
	}
	return factory.New().WithInformers(client.Informer()).WithSync(sync).ToController("VersionController", c.guest.recorder)
}

// webhookRemoval returns a controller that deletes the objects of the webhook.
func (c *clusters) webhookRemoval(client v1helpers.OperatorClient, folder string) (runner, error) {
	inManagement, err := readAssets(folder, managementProfile, "csi-snapshot-webhook")
	if err != nil {
		return nil, err
	}
	inGuest, err := readAssets(folder, guestProfile, "csi-snapshot-webhook")
	if err != nil {
		return nil, err
	}
	// The operator deletes the ServiceAccount only in the management cluster.
	guestNames := inGuest.except("ServiceAccount")
	sync := func(ctx context.Context, _ factory.SyncContext) error {
		managed, err := isManaged(client)
		if err != nil || !managed {
			return err
		}
		results := resourceapply.DeleteAll(ctx, c.guest.holder(), c.guest.recorder, inGuest.get, guestNames...)
		results = append(results, resourceapply.DeleteAll(
			ctx, c.management.holder(), c.management.recorder, inManagement.get, inManagement.names...)...)
		var errs []error
		for _, result := range results {
			errs = append(errs, result.Error)
		}
		return utilerrors.NewAggregate(errs)
	}
	name := "WebhookRemovalController"
	return factory.New().WithInformers(client.Informer()).WithSync(sync).WithSyncDegradedOnError(client).
		ResyncEvery(time.Minute).ToController(name, c.guest.recorder.WithComponentSuffix(strings.ToLower(name))), nil
}
