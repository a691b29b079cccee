//! Memory of NVIDIA's graphics processors, as their driver tells it. Others tell nobody but the programs that use them.

use std::sync::LazyLock;

use nvml_wrapper::Nvml;

/// A graphics processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) name: String,
    pub(crate) total_bytes: u64,
    pub(crate) free_bytes: u64,
}

/// The driver's library, loaded once; `None` where there is none. Looking for it anew each second would cost more than a
/// restart of the host after a driver was installed.
static DRIVER: LazyLock<Option<Nvml>> = LazyLock::new(|| {
    Nvml::init().inspect_err(|error| tracing::debug!(%error, "no driver of NVIDIA tells its memory")).ok()
});

/// Every graphics processor of NVIDIA's, in the order of its driver. The first call may take a while, others are quick.
pub(crate) fn of_nvidia() -> Vec<Gpu> {
    let Some(driver) = &*DRIVER else { return Vec::new() };
    let gpu = |index| {
        let device = driver.device_by_index(index).ok()?;
        let memory = device.memory_info().ok()?;
        Some(Gpu { name: device.name().ok()?, total_bytes: memory.total, free_bytes: memory.free })
    };
    (0..driver.device_count().unwrap_or(0)).filter_map(gpu).collect()
}

/// The one that a provider counts as number `index`. Providers may count in another order than the driver: where there are
/// different ones, nobody can tell.
pub(crate) fn counted(gpus: &[Gpu], index: usize) -> Option<&Gpu> {
    let alike = gpus.windows(2).all(|pair| pair[0].name == pair[1].name);
    gpus.get(index).filter(|_| alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_ones_are_not_mixed_up() {
        let gpu = |name: &str| Gpu { name: name.into(), total_bytes: 2, free_bytes: 1 };
        let alike = [gpu("a"), gpu("a")];
        assert_eq!((counted(&alike, 1), counted(&alike, 2)), (Some(&alike[1]), None));
        assert_eq!(counted(&[gpu("a")], 0), Some(&gpu("a")));
        assert_eq!(counted(&[gpu("a"), gpu("b")], 0), None);
    }

    #[test]
    fn what_a_driver_tells_makes_sense() {
        for gpu in of_nvidia() {
            assert!(!gpu.name.is_empty() && gpu.free_bytes <= gpu.total_bytes, "{gpu:?}");
        }
    }
}
