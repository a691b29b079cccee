//! The shape of a component, as its bytes show it: what it imports and exports, and that it unfolds to something bounded.
//! Nothing is compiled and no code runs.

use std::ops::Range;

use ebb_core::PluginManifest;
use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentTypeRef, Encoding,
    Instance, Parser, Payload, Validator,
};

use crate::Error;

/// Largest component that is read.
pub(crate) const MAX_COMPONENT_BYTES: u64 = 256 << 20;

/// Modules and components within a component. Interpreters are linked from dozens.
const MAX_NESTED: u64 = 1_000;

/// How deep they nest: tools that compose components nest two or three levels.
const MAX_DEPTH: u64 = 8;

/// Instances that a component unfolds to. A component that instantiates one twice that instantiates one twice … doubles with
/// each step and would exhaust any compiler.
const MAX_INSTANCES: u64 = 10_000;

/// What the bytes of a component show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Names of what it imports, in order.
    pub imports: Vec<String>,
    /// Names of what it exports, in order.
    pub exports: Vec<String>,
    /// Its functions, in all modules.
    pub functions: u64,
    /// Where the manifest's JSON lies, if there is one.
    pub(crate) manifest: Option<Range<usize>>,
}

impl Shape {
    /// Reads it.
    ///
    /// # Errors
    /// Where the bytes are no component, are broken, or nest or unfold beyond measure.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let size_bytes = bytes.len() as u64;
        if size_bytes > MAX_COMPONENT_BYTES {
            return Err(Error::TooLarge { what: "bytes", found: size_bytes, most: MAX_COMPONENT_BYTES });
        }
        if !bytes.starts_with(b"\0asm") {
            return Err(Error::NotWasm);
        }
        let mut reading = Reading::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(malformed)?;
            reading.take(&payload)?;
            // Function bodies are left to the compiler: the structure alone says what is asked here.
            reading.validator.payload(&payload).map_err(malformed)?;
        }
        Ok(reading.shape)
    }
}

pub(crate) fn malformed(error: BinaryReaderError) -> Error {
    Error::Malformed { offset: error.offset(), reason: error.message().to_owned() }
}

/// A module or component that is being read.
#[derive(Default)]
struct Frame {
    is_module: bool,
    /// Instances that it makes of modules.
    modules: u64,
    /// Instances that it makes of components.
    components: u64,
}

#[derive(Default)]
struct Reading {
    shape: Shape,
    validator: Validator,
    frames: Vec<Frame>,
    nested: u64,
    /// The most instances that any component read so far unfolds to. A component can only instantiate those: they are
    /// defined before it does, and none is passed to it as a value.
    largest: u64,
}

impl Reading {
    fn take(&mut self, payload: &Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::Version { encoding, .. } => self.begin(*encoding),
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => self.nest(),
            Payload::CodeSectionStart { count, .. } => {
                self.shape.functions += u64::from(*count);
                Ok(())
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports.clone().into_iter_with_offsets() {
                    let (offset, import) = import.map_err(malformed)?;
                    if matches!(import.ty, ComponentTypeRef::Module(_) | ComponentTypeRef::Component(_)) {
                        return Err(passed_as_value(offset));
                    }
                    if self.frames.len() == 1 {
                        self.shape.imports.push(import.name.name.to_owned());
                    }
                }
                Ok(())
            }
            Payload::ComponentExportSection(exports) if self.frames.len() == 1 => {
                for export in exports.clone() {
                    self.shape.exports.push(export.map_err(malformed)?.name.name.to_owned());
                }
                Ok(())
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases.clone().into_iter_with_offsets() {
                    let (offset, alias) = alias.map_err(malformed)?;
                    use ComponentExternalKind::{Component, Module};
                    if matches!(alias, ComponentAlias::InstanceExport { kind: Component | Module, .. }) {
                        return Err(passed_as_value(offset));
                    }
                }
                Ok(())
            }
            Payload::InstanceSection(instances) => {
                for instance in instances.clone() {
                    let makes = matches!(instance.map_err(malformed)?, Instance::Instantiate { .. });
                    self.frame().modules += u64::from(makes);
                }
                Ok(())
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances.clone() {
                    let makes = matches!(instance.map_err(malformed)?, ComponentInstance::Instantiate { .. });
                    self.frame().components += u64::from(makes);
                }
                Ok(())
            }
            Payload::CustomSection(section) if section.name() == PluginManifest::SECTION => {
                self.manifest(section.data_offset(), section.data().len())
            }
            Payload::End(_) => self.end(),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, encoding: Encoding) -> Result<(), Error> {
        let is_module = encoding == Encoding::Module;
        if is_module && self.frames.is_empty() {
            return Err(Error::CoreModule);
        }
        self.frames.push(Frame { is_module, ..Frame::default() });
        Ok(())
    }

    fn nest(&mut self) -> Result<(), Error> {
        self.nested += 1;
        let too_large = |what, found, most| Err(Error::TooLarge { what, found, most });
        let depth = self.frames.len() as u64;
        if self.nested > MAX_NESTED {
            return too_large("nested modules and components", self.nested, MAX_NESTED);
        }
        if depth > MAX_DEPTH {
            return too_large("levels of nested components", depth, MAX_DEPTH);
        }
        Ok(())
    }

    /// The one that is being read. Sections before any header do not reach this: the parser refuses them.
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(frame) = self.frames.pop().filter(|frame| !frame.is_module) else { return Ok(()) };
        let unfolded = frame.components.saturating_mul(self.largest).saturating_add(frame.modules + 1);
        self.largest = self.largest.max(unfolded);
        if self.largest > MAX_INSTANCES {
            return Err(Error::TooLarge { what: "instances", found: self.largest, most: MAX_INSTANCES });
        }
        Ok(())
    }

    fn manifest(&mut self, offset: usize, length: usize) -> Result<(), Error> {
        if self.frames.len() > 1 {
            // Of a component that this one was composed of.
            return Ok(());
        }
        if self.shape.manifest.is_some() {
            return Err(Error::Malformed { offset, reason: "it has two manifests".to_owned() });
        }
        self.shape.manifest = Some(offset..offset + length);
        Ok(())
    }
}

fn passed_as_value(offset: usize) -> Error {
    let reason = "it takes modules or components as values, which no plugin needs".to_owned();
    Error::Malformed { offset, reason }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn read(text: &str) -> Result<Shape, Error> {
        Shape::read(&wat::parse_str(text).unwrap())
    }

    fn too_large(text: &str) -> (&'static str, u64) {
        match read(text) {
            Err(Error::TooLarge { what, found, most: _ }) => (what, found),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_and_functions_are_those_of_the_whole_component() {
        let shape = read(
            r#"(component
                (import "ebb:plugin/plugin-host@0.1.0" (instance $host (export "now-ms" (func (result u64)))))
                (core module (func) (func))
                (component (core module (func)) (import "inner" (func)))
                (alias export $host "now-ms" (func $now))
                (export "later" (func $now)))"#,
        )
        .unwrap();
        assert_eq!(shape.imports, ["ebb:plugin/plugin-host@0.1.0"]);
        assert_eq!(shape.exports, ["later"]);
        assert_eq!((shape.functions, shape.manifest), (3, None));
    }

    #[test]
    fn a_component_that_doubles_at_each_step_is_refused_though_it_is_small() {
        let doubling = |steps: u32| {
            let mut text = String::from("(component (component $c0)");
            for step in 1..=steps {
                let before = step - 1;
                write!(
                    text,
                    "(component $c{step} (instance (instantiate $c{before})) (instance (instantiate $c{before})))"
                )
                .unwrap();
            }
            write!(text, "(instance (instantiate $c{steps})))").unwrap();
            text
        };
        assert!(read(&doubling(5)).is_ok());
        let bytes = wat::parse_str(doubling(30)).unwrap().len();
        assert!(bytes < 2_000, "{bytes}");
        let (what, found) = too_large(&doubling(30));
        assert_eq!(what, "instances");
        assert!(found < 2 * MAX_INSTANCES, "it is noticed at once: {found}");
    }

    #[test]
    fn nesting_has_bounds_in_depth_and_number() {
        let deep = |levels: usize| format!("{}{}", "(component ".repeat(levels + 1), ")".repeat(levels + 1));
        assert!(read(&deep(8)).is_ok());
        assert_eq!(too_large(&deep(9)), ("levels of nested components", 9));
        let wide = |modules: usize| format!("(component {})", "(core module)".repeat(modules));
        assert!(read(&wide(1_000)).is_ok());
        assert_eq!(too_large(&wide(1_001)), ("nested modules and components", 1_001));
    }

    #[test]
    fn components_and_modules_are_no_values() {
        for text in [
            r#"(component (import "m" (core module)))"#,
            r#"(component (component (import "c" (component))))"#,
            r#"(component (import "i" (instance $i (export "m" (core module)))) (alias export $i "m" (core module)))"#,
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("as values"), "{error}");
        }
    }
}
