//! Images that do not come from the release.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::yaml::Node;

/// Checks that the release contains the images of containers and of variables such as `OPERAND_IMAGE`.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    // Without a release, its images are not known.
    if context.release_images.is_empty() {
        return;
    }
    for container in pod.containers() {
        if let Some(image) = container.get("image") {
            check_image(&image, context, report);
        }
        for variable in container.items("/env") {
            let name = variable.node.get("name").and_then(Node::as_str).unwrap_or_default();
            if let Some(value) = variable.get("value")
                && (name == "IMAGE" || name.ends_with("_IMAGE"))
            {
                check_image(&value, context, report);
            }
        }
    }
}

fn check_image(field: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(image) = field.as_str().filter(|image| !image.is_empty()) else { return };
    if context.release_images.contains(image) {
        return;
    }
    let externals = context.here.find_image(image);
    if !externals.is_empty() {
        report.use_externals(&externals);
        return;
    }
    let sources =
        context.rendered.view.payload.image_sources.values().flat_map(|images| images.tags.values());
    report.add(
        Finding::new(Check::UnpinnedImage, field, format!("the image `{image}` is not in the release"))
            .note("the release does not contain it, so a disconnected cluster cannot pull it")
            .help(
                "add its source to the image-references of the component, or declare the image under `externals` \
                 in a Checks file",
            )
            .suggest(image, sources.map(String::as_str)),
    );
}
