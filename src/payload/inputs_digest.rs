//! The digest of everything in a payload that a render depends on.

use super::release::Images;
use super::{Payload, page};
use crate::sha256::{Hasher, Sha256};
use crate::yaml::json;

impl Payload {
    /// Returns the digest of the manifests, the pages, the patch files, the version and the images.
    pub(crate) fn inputs_sha256(&self) -> Sha256 {
        let mut hasher = Hasher::default();
        hasher.add(&self.sha256().to_string());
        for (component, page) in &self.page_documents {
            let digest = Sha256::of(json::write(page).as_bytes());
            hasher.add_all(&["page", component, &digest.to_string()]);
        }
        for file in self.patch_files.values().flatten() {
            add_patch_file(&mut hasher, file);
        }
        if let Some(release) = &self.release {
            hasher.add_all(&["version", release.version.as_deref().unwrap_or_default()]);
            add_images(&mut hasher, "release", &release.images);
        }
        for (cluster, images) in &self.images_of_cluster {
            add_images(&mut hasher, cluster.name(), images);
        }
        for (folder, images) in &self.image_sources {
            add_images(&mut hasher, folder, images);
        }
        hasher.finish()
    }
}

fn add_patch_file(hasher: &mut Hasher, file: &page::PatchFile) {
    hasher.add_all(&["patch", &file.path]);
    for document in &file.documents {
        hasher.add(&json::write(document));
    }
}

fn add_images(hasher: &mut Hasher, of: &str, images: &Images) {
    hasher.add_all(&["images", of, &images.name]);
    for (tag, pullspec) in &images.tags {
        hasher.add_all(&[tag, pullspec]);
    }
    for (tag, versions) in &images.builds {
        for (program, version) in versions {
            hasher.add_all(&[tag, program, version]);
        }
    }
    for (program, version) in &images.default_builds {
        hasher.add_all(&["default", program, version]);
    }
}
