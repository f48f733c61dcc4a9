//! Findings of the checks as text, as JSON lines, and as SARIF for tools that show them next to the code.

use serde_json::{Value as Json, json};

use crate::check::Finding;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::language::Check;
use crate::yaml::Sources;

/// Returns findings as text.
pub(crate) fn text(findings: &[Finding], sources: &Sources) -> String {
    let mut out = String::new();
    for finding in findings {
        out.push_str(&finding.diagnostic(sources).to_string());
        out.push('\n');
    }
    out
}

/// Returns findings as JSON, one per line.
pub(crate) fn json(findings: &[Finding], sources: &Sources) -> String {
    let mut out = String::new();
    for finding in findings {
        let object = finding.object.as_ref().map(
            |id| json!({"group": id.group, "kind": id.kind, "namespace": id.namespace, "name": id.name}),
        );
        let line = json!({
            "code": finding.check.code(),
            "severity": finding.check.severity().to_string(),
            "profiles": finding.profiles,
            "object": object,
            "path": finding.path,
            "file": sources.name(finding.mark.source),
            "line": finding.mark.line,
            "column": finding.mark.column,
            "message": finding.message,
            "notes": finding.notes,
            "help": finding.help,
        });
        out.push_str(&line.to_string());
        out.push('\n');
    }
    out
}

/// Returns errors of invalid input as JSON, one per line, with the fields of findings.
pub(crate) fn errors_json(errors: &Diagnostics) -> String {
    let mut out = String::new();
    for error in &errors.0 {
        let (file, line, column) = place(error);
        let line = json!({
            "code": error.code.unwrap_or(INVALID_INPUT),
            "severity": error.severity.to_string(),
            "profiles": [],
            "object": null,
            "path": "",
            "file": file,
            "line": line,
            "column": column,
            "message": error.message,
            "notes": error.object.iter().map(|id| format!("object: {id}")).chain(error.notes.clone()).collect::<Vec<_>>(),
            "help": error.help,
        });
        out.push_str(&line.to_string());
        out.push('\n');
    }
    out
}

/// The code of errors that no check reports: the input cannot be rendered.
const INVALID_INPUT: &str = "invalid-input";

/// Returns the file, the line and the column of an error.
fn place(error: &Diagnostic) -> (Option<&str>, Option<u32>, Option<u32>) {
    let location = error.location.as_ref();
    let position = location.and_then(|location| location.position);
    (
        location.map(|location| location.file.as_str()),
        position.map(|(line, _)| line),
        position.map(|(_, column)| column),
    )
}

/// Returns findings in the Static Analysis Results Interchange Format, version 2.1.0.
pub(crate) fn sarif(findings: &[Finding], sources: &Sources) -> String {
    let results: Vec<Json> = findings.iter().map(|finding| sarif_result(finding, sources)).collect();
    sarif_log(&results)
}

/// Returns errors of invalid input in the same format.
pub(crate) fn errors_sarif(errors: &Diagnostics) -> String {
    let results: Vec<Json> = errors.0.iter().map(sarif_error).collect();
    sarif_log(&results)
}

fn sarif_log(results: &[Json]) -> String {
    let mut rules: Vec<Json> = Check::all().map(sarif_rule).collect();
    rules.push(json!({
        "id": INVALID_INPUT,
        "shortDescription": {"text": "Input that cannot be rendered, so that nothing was checked."},
        "defaultConfiguration": {"level": "error"},
    }));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "transship",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn sarif_error(error: &Diagnostic) -> Json {
    let mut text = vec![error.message.as_str()];
    text.extend(error.notes.iter().map(String::as_str));
    text.extend(error.help.as_deref());
    let (file, line, column) = place(error);
    let mut locations = Vec::new();
    if let Some(file) = file {
        let region = line.map(|line| json!({"startLine": line, "startColumn": column}));
        let mut location = json!({"artifactLocation": {"uri": file}});
        if let Some(region) = region {
            location["region"] = region;
        }
        locations.push(json!({"physicalLocation": location}));
    }
    json!({
        "ruleId": error.code.unwrap_or(INVALID_INPUT),
        "level": "error",
        "message": {"text": text.join("; ")},
        "locations": locations,
    })
}

fn sarif_rule(check: Check) -> Json {
    json!({
        "id": check.code(),
        "shortDescription": {"text": check.description()},
        "defaultConfiguration": {"level": sarif_level(check)},
    })
}

fn sarif_result(finding: &Finding, sources: &Sources) -> Json {
    let mut text = vec![finding.message.as_str()];
    text.extend(finding.notes.iter().map(String::as_str));
    text.push(&finding.help);
    let name = match &finding.object {
        Some(id) => format!("{id}{}", finding.path),
        None => String::new(),
    };
    json!({
        "ruleId": finding.check.code(),
        "level": sarif_level(finding.check),
        "message": {"text": text.join("; ")},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": sources.name(finding.mark.source)},
                "region": {"startLine": finding.mark.line, "startColumn": finding.mark.column},
            },
            "logicalLocations": [{"fullyQualifiedName": name}],
        }],
    })
}

fn sarif_level(check: Check) -> &'static str {
    match check.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
