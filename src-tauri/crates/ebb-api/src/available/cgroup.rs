//! Memory that the control groups of this process leave it: its own group and each one around it has a limit of its own.

use std::{
    fs, iter,
    path::{Component, Path, PathBuf},
};

/// A version of control groups, by what its files are called.
struct Version {
    /// Under the folder of control groups, where each hierarchy lies.
    mounts: &'static [&'static str],
    /// What is held is refused above the first; above the second the kernel takes it back, which stops programs.
    limits: &'static [&'static str],
    used: &'static str,
    /// Of `memory.stat`: copies of files. They count as used, and go when memory is needed: with them, a model that was just
    /// read would look like a shortage.
    reclaimable: &'static str,
}

/// Where both are there, the second version lies beside the hierarchies of the first.
const V2: Version = Version {
    mounts: &["", "unified"],
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    reclaimable: "inactive_file",
};

const V1: Version = Version {
    mounts: &["memory"],
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

/// What is free of the limit that leaves least, and that limit; none where there is no limit.
pub(crate) fn memory() -> Option<(u64, u64)> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    least(&groups, Path::new("/sys/fs/cgroup"))
}

/// As [`memory`], of a process in these groups, as the kernel lists them, that finds the groups' folders in `root`.
fn least(groups: &str, root: &Path) -> Option<(u64, u64)> {
    let left = groups.lines().filter_map(group).flat_map(|(version, group)| {
        let folders = version.mounts.iter().flat_map(move |mount| around(&root.join(mount), group));
        folders.filter_map(move |folder| version.memory(&folder))
    });
    left.min()
}

/// A line of the kernel's list: the version that can limit memory, and the group in it. The first version has one hierarchy for
/// each of several controllers, the second has one in all, which it calls 0.
fn group(line: &str) -> Option<(Version, &str)> {
    let (number, rest) = line.split_once(':')?;
    let (controllers, group) = rest.split_once(':')?;
    match (number, controllers) {
        ("0", "") => Some((V2, group)),
        _ if controllers.split(',').any(|controller| controller == "memory") => Some((V1, group)),
        _ => None,
    }
}

/// The folders of a group and of those around it, up to the mount's own: inside a container that one may be the container's,
/// while the list names the group as it is seen from outside.
fn around(mount: &Path, group: &str) -> Vec<PathBuf> {
    let inside = Path::new(group).components().filter(|part| matches!(part, Component::Normal(_)));
    let folders = inside.scan(mount.to_owned(), |folder, part| {
        folder.push(part);
        Some(folder.clone())
    });
    iter::once(mount.to_owned()).chain(folders).collect()
}

impl Version {
    /// What is free of a group's limit, and the limit; none where the group is not there or not limited.
    fn memory(&self, folder: &Path) -> Option<(u64, u64)> {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        // `max` is no number; a limit that is none is larger than any memory in the first version.
        let limit = self.limits.iter().filter_map(|name| number(name)).min()?;
        let reclaimable = read("memory.stat").and_then(|stat| figure(&stat, self.reclaimable)).unwrap_or(0);
        let used = number(self.used)?.saturating_sub(reclaimable);
        Some((limit.saturating_sub(used), limit))
    }
}

/// A figure of `memory.stat`.
fn figure(stat: &str, name: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A folder of control groups with these files, in MiB unless it is a word.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let content = content.parse::<u64>().map_or((*content).to_owned(), |mib| (mib * MIB).to_string());
            fs::write(path, content + "\n").unwrap();
        }
        root
    }

    fn mib(groups: &str, root: &tempfile::TempDir) -> Option<(u64, u64)> {
        least(groups, root.path()).map(|(free, limit)| (free / MIB, limit / MIB))
    }

    #[test]
    fn the_processs_own_group_counts_and_not_its_neighbours() {
        let root = tree(&[
            ("user.slice/ebb.scope/memory.max", "1000"),
            ("user.slice/ebb.scope/memory.high", "max"),
            ("user.slice/ebb.scope/memory.current", "700"),
            ("user.slice/ebb.scope/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 7"),
            ("user.slice/other.scope/memory.max", "10"),
            ("user.slice/other.scope/memory.current", "9"),
            ("user.slice/ebb.scope/inner/memory.max", "10"),
            ("user.slice/ebb.scope/inner/memory.current", "9"),
        ]);
        assert_eq!(mib("0::/user.slice/ebb.scope\n", &root), Some((400, 1_000)), "files' copies are free");
        assert_eq!(mib("0::/user.slice\n", &root), None, "max is no limit");
        assert_eq!(mib("0::/\n", &root), None);
    }

    #[test]
    fn of_the_groups_around_it_the_one_that_leaves_least_decides() {
        let mut files = vec![
            ("a/memory.max", "4000"),
            ("a/memory.current", "3900"),
            ("a/b/memory.max", "1000"),
            ("a/b/memory.current", "100"),
            ("a/b/c/memory.max", "max"),
            ("a/b/c/memory.current", "100"),
        ];
        assert_eq!(mib("0::/a/b/c", &tree(&files)), Some((100, 4_000)));
        files[1] = ("a/memory.current", "1000");
        assert_eq!(mib("0::/a/b/c", &tree(&files)), Some((900, 1_000)));
        files.push(("a/b/c/memory.high", "300"));
        assert_eq!(mib("0::/a/b/c", &tree(&files)), Some((200, 300)), "what stops programs counts too");
        files[5] = ("a/b/c/memory.current", "301");
        assert_eq!(mib("0::/a/b/c", &tree(&files)), Some((0, 300)));
    }

    #[test]
    fn the_first_version_has_a_hierarchy_for_memory() {
        let root = tree(&[
            ("memory/box/memory.limit_in_bytes", "500"),
            ("memory/box/memory.usage_in_bytes", "450"),
            ("memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 52428800"),
            ("cpu/box/memory.limit_in_bytes", "1"),
            ("cpu/box/memory.usage_in_bytes", "1"),
        ]);
        let groups = "5:cpu,cpuacct:/box\n4:memory:/box\n1:name=systemd:/box\n0::/\n";
        assert_eq!(mib(groups, &root), Some((100, 500)));
        assert_eq!(mib("4:cpuset,memory:/box", &root), Some((100, 500)));
        assert_eq!(mib("4:cpu:/box", &root), None);
        let both = tree(&[("unified/box/memory.max", "80"), ("unified/box/memory.current", "20")]);
        assert_eq!(mib(groups, &both), None);
        assert_eq!(mib("4:memory:/\n0::/box\n", &both), Some((60, 80)));
    }

    #[test]
    fn inside_a_container_the_mount_is_its_own_group() {
        let root = tree(&[("memory.max", "200"), ("memory.current", "50")]);
        for group in ["0::/docker/0123", "0::/", "0::/../../elsewhere"] {
            assert_eq!(mib(group, &root), Some((150, 200)), "{group}");
        }
    }

    #[test]
    fn what_cannot_be_read_limits_nothing() {
        let root = tree(&[("a/memory.max", "many"), ("a/memory.current", "1"), ("b/memory.max", "10")]);
        for groups in ["0::/a", "0::/b", "", "0", "0::", "::", "x:memory", "0:memory:/a"] {
            assert_eq!(mib(groups, &root), None, "{groups}");
        }
        assert_eq!(figure("inactive_file_x 7\ninactive_file 4096\n", "inactive_file"), Some(4_096));
        assert_eq!((figure("files 1", "file"), figure("inactive_file many", "inactive_file")), (None, None));
    }
}
