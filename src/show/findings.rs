//! Findings of the checks as text, as JSON lines, and as SARIF for tools that show them next to the code.

use serde_json::{Value as Json, json};

use crate::check::Finding;
use crate::diagnostic::Severity;
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

/// Returns findings in the Static Analysis Results Interchange Format, version 2.1.0.
pub(crate) fn sarif(findings: &[Finding], sources: &Sources) -> String {
    let rules: Vec<Json> = Check::all().map(sarif_rule).collect();
    let results: Vec<Json> = findings.iter().map(|finding| sarif_result(finding, sources)).collect();
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
