//! Inputs and outputs that stay bound from run to run and may be the first part of a larger tensor: the cache of a decoder
//! grows with every token, its memory by steps. The crate `ort` binds whole tensors only, one for an input or an output.

use std::{collections::BTreeMap, ptr, slice, sync::Arc};

use ort::{
    AsPointer, Error, api,
    memory::Allocator,
    session::{IoBinding, RunOptions, Session},
    value::{DynTensor, DynTensorValueType, DynValue},
};

use super::tensor::len_bytes;
use crate::session::dtype_of;

/// Which side of a model something is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Input,
    Output,
}

/// What is bound to a session. What parts are of is kept for as long as they may be used.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Goes before what it points to.
    binding: IoBinding,
    held: BTreeMap<(Side, String), Arc<DynTensor>>,
}

impl Binding {
    pub(crate) fn new(session: &Session) -> Result<Self, Error> {
        Ok(Self { binding: session.create_binding()?, held: BTreeMap::new() })
    }

    /// What is bound as whole tensors.
    pub(crate) fn whole(&mut self) -> &mut IoBinding {
        &mut self.binding
    }

    /// Binds the first bytes of a tensor, as a tensor of this shape. One may be an input and an output at once, where the model
    /// reads and writes in place.
    ///
    /// # Errors
    /// Where the shape needs more than the tensor has.
    pub(crate) fn bind_part(
        &mut self,
        side: Side,
        name: &str,
        tensor: &Arc<DynTensor>,
        shape: &[i64],
    ) -> Result<(), Error> {
        let elements: Option<u64> =
            shape.iter().try_fold(1_u64, |all, &dim| all.checked_mul(u64::try_from(dim).ok()?));
        let size_bytes = dtype_of(*tensor.data_type()).map_or(0, |dtype| dtype.size_bytes() as u64);
        let needed = elements.and_then(|elements| elements.checked_mul(size_bytes));
        if needed.is_none_or(|needed| needed > len_bytes(tensor) as u64) {
            return Err(Error::new(format!("'{name}' needs more than the tensor that is bound to it has")));
        }
        let text = std::ffi::CString::new(name)?;
        let mut value = ptr::null_mut();
        // SAFETY: the tensor's memory is described by its own memory info, has at least the bytes that the shape needs (checked
        // above), and outlives the value: `held` keeps it until something else is bound there or the binding is gone. ONNX
        // Runtime copies the shape.
        unsafe {
            Error::result_from_status((api().CreateTensorWithDataAsOrtValue)(
                tensor.memory_info().ptr(),
                tensor.data_ptr().cast_mut(),
                len_bytes(tensor),
                shape.as_ptr(),
                shape.len(),
                (*tensor.data_type()).into(),
                &mut value,
            ))
        }?;
        let bind = match side {
            Side::Input => api().BindInput,
            Side::Output => api().BindOutput,
        };
        // SAFETY: binding and value are valid, the name ends in NUL; the binding takes a reference of its own to the value.
        let bound =
            unsafe { Error::result_from_status(bind(self.binding.ptr().cast_mut(), text.as_ptr(), value)) };
        // SAFETY: made above and released once; it does not own the tensor's memory.
        unsafe { (api().ReleaseValue)(value) };
        bound?;
        self.held.insert((side, name.to_owned()), Arc::clone(tensor));
        Ok(())
    }

    /// Runs the model on what is bound.
    pub(crate) fn run(&self, session: &mut Session, options: &RunOptions) -> Result<(), Error> {
        // SAFETY: all three are valid; the session is borrowed mutably, so that no other run of it goes on, and what is bound
        // lives as long as this.
        unsafe {
            Error::result_from_status((api().RunWithBinding)(
                session.ptr().cast_mut(),
                options.ptr(),
                self.binding.ptr(),
            ))
        }
    }

    /// What the last run gave for the output that was bound after all others; `None` where it is no tensor.
    pub(crate) fn last_output(&self) -> Result<Option<DynTensor>, Error> {
        let allocator = Allocator::default();
        let (mut values, mut count) = (ptr::null_mut(), 0);
        // SAFETY: binding and allocator are valid; the call writes an array that is allocated with the allocator.
        unsafe {
            Error::result_from_status((api().GetBoundOutputValues)(
                self.binding.ptr(),
                allocator.ptr().cast_mut(),
                &mut values,
                &mut count,
            ))
        }?;
        if values.is_null() {
            return Ok(None);
        }
        // SAFETY: the array has `count` values, each the caller's to release: the last is owned by what is made of it, the
        // others are released here. The array is given back to the allocator that it is of, and not used any more.
        let last = unsafe {
            let (last, others) = match slice::from_raw_parts(values, count).split_last() {
                Some((last, others)) => (Some(*last), others),
                None => (None, &[][..]),
            };
            for &other in others {
                (api().ReleaseValue)(other);
            }
            let last = last.and_then(ptr::NonNull::new);
            let last = last.map(|value| DynValue::from_ptr(value, Some(&allocator)));
            allocator.free(values);
            last
        };
        Ok(last.and_then(|value| value.downcast::<DynTensorValueType>().ok()))
    }
}
