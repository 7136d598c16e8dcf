//! What a clip calls.

use serde_json::Value;

use super::node::List;
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::Event;

/// The events of a list, ordered by time.
pub(super) fn read(reader: &mut Reader<'_>, list: &List<'_>) -> Result<Vec<Event>, Fault> {
    reader.charge(list.place(), list.len() * size_of::<Event>())?;
    let mut events = Vec::with_capacity(list.len());
    for event in list.nodes() {
        let event = event?;
        let (time, function) = (event.need("frame")?.number()?, event.need("func")?);
        let function = function.text()?.to_owned();
        reader.charge(event.place(), function.len())?;
        let mut parameters = Vec::new();
        let values = event.get("params")?.map_or(Ok(&[][..]), |params| match params.value() {
            Value::Array(values) => Ok(values.as_slice()),
            _ => Err(params.fault(format!("it is {}, not a list", params.what()))),
        })?;
        for value in values {
            let parameter = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            reader.charge(event.place(), size_of::<String>() + parameter.len())?;
            parameters.push(parameter);
        }
        events.push(Event { time, function, parameters });
    }
    events.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(events)
}
