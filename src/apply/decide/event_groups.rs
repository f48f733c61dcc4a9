//! One line per cause: many objects with the same event and the same message become one line of text with their number.

use crate::apply::decide::event::{Event, EventKind};

/// Up to this many objects with the same cause have a line each.
const SHOWN_EACH: usize = 3;

/// Events with the same cause that are not printed yet.
#[derive(Default)]
pub(crate) struct EventGroups {
    /// Objects that are blocked or held. They come in bursts, which end with the next other event.
    burst: Vec<Group>,
    /// Objects that failed. The first ones are printed at once.
    failed: Vec<Group>,
}

struct Group {
    /// The first events with the cause.
    first: Vec<Event>,
    count: usize,
}

impl EventGroups {
    /// Adds an event. Returns the events to print now. An event of several objects has no object.
    pub(crate) fn add(&mut self, event: &Event) -> Vec<Event> {
        match event.kind {
            EventKind::Blocked | EventKind::Held if event.object.is_some() => {
                count(&mut self.burst, event);
                Vec::new()
            }
            EventKind::Failed if event.object.is_some() => {
                let mut events = self.end_burst();
                if count(&mut self.failed, event) <= SHOWN_EACH {
                    events.push(event.clone());
                }
                events
            }
            _ => {
                let mut events = self.end_burst();
                events.push(event.clone());
                events
            }
        }
    }

    /// Returns the events that are not printed yet.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let mut events = self.end_burst();
        for group in self.failed.drain(..).filter(|group| group.count > SHOWN_EACH) {
            events.extend(group.summarize(group.count - SHOWN_EACH, "more objects"));
        }
        events
    }

    fn end_burst(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for group in self.burst.drain(..) {
            if group.count <= SHOWN_EACH {
                events.extend(group.first);
            } else {
                events.extend(group.summarize(group.count, "objects"));
            }
        }
        events
    }
}

/// Counts an event with the others of its cause. Returns how many there are.
fn count(groups: &mut Vec<Group>, event: &Event) -> usize {
    let same_cause = |group: &&mut Group| {
        let other = &group.first[0];
        (other.cluster, other.kind, &other.message) == (event.cluster, event.kind, &event.message)
    };
    if let Some(group) = groups.iter_mut().find(same_cause) {
        group.count += 1;
        if group.first.len() < SHOWN_EACH {
            group.first.push(event.clone());
        }
        return group.count;
    }
    groups.push(Group { first: vec![event.clone()], count: 1 });
    1
}

impl Group {
    /// Returns one event for several objects.
    fn summarize(&self, count: usize, noun: &str) -> Option<Event> {
        let first = self.first.first()?;
        let message = format!("{count} {noun}: {}", in_plural(&first.message));
        Some(Event { object: None, level: String::new(), message, ..first.clone() })
    }
}

/// Returns a message about one object as a message about several.
fn in_plural(message: &str) -> String {
    for (one, many) in [("its ", "their "), ("it needs ", "they need "), ("it is ", "they are ")] {
        if let Some(rest) = message.strip_prefix(one) {
            return format!("{many}{rest}");
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::EventGroups;
    use crate::apply::decide::event::{Event, EventKind};
    use crate::object::{Cluster, ObjectId};

    fn event(number: usize, kind: EventKind, message: &str) -> Event {
        let [group, kind_name, namespace] = ["", "ConfigMap", "ns"].map(str::to_owned);
        let id = ObjectId { group, kind: kind_name, namespace, name: format!("c{number}") };
        Event::for_object(Cluster::Guest, &id, kind, message)
    }

    fn lines(events: &[Event]) -> Vec<String> {
        events.iter().map(Event::line).collect()
    }

    #[test]
    fn many_blocked_objects_are_one_line_before_the_next_event() {
        let mut groups = EventGroups::default();
        for number in 0..66 {
            let lost = event(number, EventKind::Blocked, "its cluster does not respond: refused");
            assert_eq!(groups.add(&lost), []);
        }
        for number in 0..3 {
            assert_eq!(groups.add(&event(number, EventKind::Held, "--prune deletes it")), []);
        }
        let expected = [
            "guest           blocked     66 objects: their cluster does not respond: refused",
            "guest           held        ConfigMap/c0 in ns: --prune deletes it",
            "guest           held        ConfigMap/c1 in ns: --prune deletes it",
            "guest           held        ConfigMap/c2 in ns: --prune deletes it",
            "guest           created     ConfigMap/c9 in ns",
        ];
        assert_eq!(lines(&groups.add(&event(9, EventKind::Created, ""))), expected);
        assert_eq!(groups.finish(), []);
    }

    #[test]
    fn the_first_failures_are_shown_at_once() {
        let mut groups = EventGroups::default();
        let mut now = Vec::new();
        for number in 0..5 {
            now.extend(groups.add(&event(number, EventKind::Failed, "its namespace ns does not exist")));
        }
        now.extend(groups.add(&event(7, EventKind::Failed, "forbidden")));
        assert_eq!(now.len(), 4);
        let expected = ["guest           failed      2 more objects: their namespace ns does not exist"];
        assert_eq!(lines(&groups.finish()), expected);
    }
}
