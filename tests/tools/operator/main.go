// Command operator plays three operators of a hosted cluster with the controllers of library-go:
// csi-snapshot-controller-operator, cluster-storage-operator and aws-ebs-csi-driver-operator. Like them, it starts with
// controllercmd, elects a leader, reads feature gates, and writes Deployments into the management cluster, and its status
// and everything else into the guest. Its operands are objects that transship rendered: `--assets` is what
// `transship render --output` wrote.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/cli"
	"k8s.io/utils/clock"
)

// operator is one of the operators that the program plays.
type operator struct {
	name string
	// guestNamespace is where its ServiceAccount lives in the guest, and its events.
	guestNamespace string
	start          func(ctx context.Context, c *clusters, folder string) error
}

func main() {
	root := &cobra.Command{Use: "operator", SilenceUsage: true}
	for _, it := range []operator{
		{"csi-snapshot-controller-operator", "openshift-cluster-storage-operator", startSnapshotOperator},
		{"cluster-storage-operator", "openshift-cluster-storage-operator", startStorageOperator},
		{"aws-ebs-csi-driver-operator", "openshift-cluster-csi-drivers", startDriverOperator},
	} {
		root.AddCommand(it.command())
	}
	os.Exit(cli.Run(root))
}

// command returns the subcommand, with the flags of controllercmd.
func (o operator) command() *cobra.Command {
	var guestKubeconfig, folder string
	run := func(ctx context.Context, controllerContext *controllercmd.ControllerContext) error {
		clusters, err := connect(ctx, controllerContext, guestKubeconfig, o)
		if err != nil {
			return err
		}
		if err := clusters.waitForFeatureGates(ctx); err != nil {
			return err
		}
		if err := o.start(ctx, clusters, folder); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		<-ctx.Done()
		return nil
	}
	config := controllercmd.NewControllerCommandConfig(o.name, version.Info{GitVersion: "v0.0.0"}, run, clock.RealClock{})
	command := config.NewCommandWithContext(context.Background())
	command.Use = o.name
	command.Flags().StringVar(&guestKubeconfig, "guest-kubeconfig", "", "kubeconfig for the guest")
	command.Flags().StringVar(&folder, "assets", "", "folder with the rendered operands")
	return command
}
