//! Findings of the checks: for people, as JSON, and as SARIF for tools that show them beside the code.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::check::Finding;
use crate::diagnostic::Severity;
use crate::language::Check;
use crate::yaml::Sources;

/// One finding for each thing that is wrong: what several profiles show is said once.
pub fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: BTreeMap<_, Finding> = BTreeMap::new();
    for finding in findings {
        let key =
            (finding.mark, finding.check, finding.path.clone(), finding.message.clone(), finding.why.clone());
        match merged.get_mut(&key) {
            Some(known) => {
                known.profiles.extend(finding.profiles);
                known.profiles.sort();
                known.profiles.dedup();
            }
            None => drop(merged.insert(key, finding)),
        }
    }
    merged.into_values().collect()
}

/// Findings as text.
pub fn text(findings: &[Finding], sources: &Sources) -> String {
    let lines: Vec<String> =
        findings.iter().map(|finding| finding.diagnostic(sources).to_string() + "\n").collect();
    lines.concat()
}

/// Findings as JSON, one a line.
pub fn json(findings: &[Finding], sources: &Sources) -> String {
    let line = |finding: &Finding| {
        let object = finding.object.as_ref().map(
            |id| json!({"group": id.group, "kind": id.kind, "namespace": id.namespace, "name": id.name}),
        );
        let row = json!({
            "code": finding.check.code(),
            "severity": finding.check.severity().to_string(),
            "profiles": finding.profiles,
            "object": object,
            "path": finding.path,
            "file": sources.name(finding.mark.source),
            "line": finding.mark.line,
            "column": finding.mark.column,
            "message": finding.message,
            "why": finding.why,
            "help": finding.help,
        });
        format!("{row}\n")
    };
    findings.iter().map(line).collect()
}

/// Findings in the Static Analysis Results Interchange Format, version 2.1.0.
pub fn sarif(findings: &[Finding], sources: &Sources) -> String {
    let rule = |check: Check| {
        json!({
            "id": check.code(),
            "shortDescription": {"text": check.about()},
            "defaultConfiguration": {"level": level(check)},
        })
    };
    let result = |finding: &Finding| {
        let text =
            [std::slice::from_ref(&finding.message), &finding.why, std::slice::from_ref(&finding.help)]
                .concat();
        let name = finding.object.as_ref().map_or_else(String::new, |id| format!("{id}{}", finding.path));
        json!({
            "ruleId": finding.check.code(),
            "level": level(finding.check),
            "message": {"text": text.join("; ")},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": sources.name(finding.mark.source)},
                    "region": {"startLine": finding.mark.line, "startColumn": finding.mark.column},
                },
                "logicalLocations": [{"fullyQualifiedName": name}],
            }],
        })
    };
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "transship",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Check::all().map(rule).collect::<Vec<_>>(),
            }},
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log:#}\n")
}

fn level(check: Check) -> Json {
    match check.severity() {
        Severity::Error => "error".into(),
        Severity::Warning => "warning".into(),
    }
}
