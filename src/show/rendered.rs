//! A table of what was rendered: how many objects each component has in each profile.

use std::fmt::Write;

use crate::order::Plan;

/// Returns a table with a row for each component and a column for each profile.
pub(crate) fn rendered(plans: &[Plan]) -> String {
    let mut components: Vec<&str> =
        plans.iter().flat_map(|plan| &plan.objects).map(|object| object.component.as_str()).collect();
    components.sort_unstable();
    components.dedup();
    let name_width =
        components.iter().map(|name| name.len()).max().unwrap_or_default().max("COMPONENT".len());
    let mut out = format!("{:name_width$}", "COMPONENT");
    for plan in plans {
        let _ = write!(out, "  {:>1$}", plan.profile.to_uppercase(), column_width(plan));
    }
    out.push('\n');
    for component in components {
        let counts = plans
            .iter()
            .map(|plan| plan.objects.iter().filter(|object| object.component == component).count());
        row(&mut out, component, name_width, plans, counts);
    }
    let totals = plans.iter().map(|plan| plan.objects.len());
    row(&mut out, "total", name_width, plans, totals);
    out
}

fn row(out: &mut String, name: &str, width: usize, plans: &[Plan], counts: impl Iterator<Item = usize>) {
    let _ = write!(out, "{name:width$}");
    for (plan, count) in plans.iter().zip(counts) {
        // A dash is easier to tell from the counts than a zero.
        let count = if count == 0 { "-".to_owned() } else { count.to_string() };
        let _ = write!(out, "  {count:>0$}", column_width(plan));
    }
    out.push('\n');
}

/// Returns the width of a column: the name of the profile, or its largest count, which is the total.
fn column_width(plan: &Plan) -> usize {
    plan.profile.len().max(plan.objects.len().to_string().len())
}
