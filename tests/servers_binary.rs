//! Which program is taken for a server, and what is said when none can be.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lockscope::servers::{Binary, Fleet, ServersError};
use servers_support::{exists, fleet, run, single};

/// A program in `folder` that does what the shell lines say.
fn program(folder: &Path, name: &str, lines: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn find(explicit: Option<&Path>, variable: Option<&Path>, path: &Path) -> Result<Binary, ServersError> {
    Binary::find_in(explicit, variable.map(Path::as_os_str), path.as_os_str())
}

#[test]
fn what_is_named_first_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let says = |version: &str| format!("echo 'Redis server v={version} sha=00000000:0 malloc=libc bits=64 build=0'");
    let named = program(folder.path(), "mine", &says("7.4.1"));
    let variable = program(folder.path(), "theirs", &says("7.2.3"));
    let on_path = program(folder.path(), "redis-server", &says("8.0.0"));
    program(folder.path(), "valkey-server", "echo 'Valkey server v=8.1.0 sha=0'");

    let found = find(Some(&named), Some(&variable), folder.path()).unwrap();
    assert_eq!(found, Binary { path: named, name: "redis".into(), version: (7, 4, 1) });
    assert_eq!(find(None, Some(&variable), folder.path()).unwrap().version, (7, 2, 3));
    assert_eq!(find(None, None, folder.path()).unwrap().path, on_path);
    std::fs::remove_file(on_path).unwrap();
    let valkey = find(None, None, folder.path()).unwrap();
    assert_eq!((valkey.name.as_str(), valkey.version), ("valkey", (8, 1, 0)));
    // A name without a folder is looked for on PATH too.
    assert_eq!(find(Some(Path::new("mine")), None, folder.path()).unwrap().version, (7, 4, 1));
}

#[test]
fn without_any_there_is_one_clear_message() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "apk", "exit 0");
    let error = find(None, None, folder.path()).unwrap_err();
    assert!(matches!(error, ServersError::NotFound { .. }));
    let said = error.to_string();
    assert!(said.starts_with("no redis-server found") && said.contains("sudo apk add valkey"), "{said}");
    assert!(said.contains("--redis-server PATH") && said.contains("LOCKSCOPE_REDIS_SERVER"), "{said}");
    assert!(matches!(Binary::find_in(None, None, OsStr::new("")), Err(ServersError::NotFound { .. })));
}

#[test]
fn what_is_not_a_server_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "redis-server", "echo 'Redis server v=7.4.1 sha=0'");
    for (lines, reason) in [
        ("echo 'cat (GNU coreutils) 9.1'", "it says `cat (GNU coreutils) 9.1`"),
        ("exit 3", "it says nothing"),
        ("while :; do echo y; done", "it says `y`"),
    ] {
        let wrong = program(folder.path(), "wrong", lines);
        let error = find(Some(&wrong), None, folder.path()).unwrap_err();
        assert!(matches!(error, ServersError::NotAServer { .. }), "{error}");
        assert!(
            error.to_string().contains("wrong is not a redis-server") && error.to_string().contains(reason),
            "{error}"
        );
    }
    // One that was named is never passed over for the one on PATH.
    let missing = folder.path().join("missing");
    for error in [find(Some(&missing), None, folder.path()), find(None, Some(&missing), folder.path())] {
        assert!(error.unwrap_err().to_string().contains("there is no such program"));
    }
}

#[test]
fn old_servers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (said, complaint) in [
        ("Redis server v=6.2.14 sha=0", "is redis 6.2.14, and lockscope needs Redis 7.0 or newer"),
        ("Valkey server v=7.1.9 sha=0", "is valkey 7.1.9, and lockscope needs Valkey 7.2 or newer"),
    ] {
        let old = program(folder.path(), "old", &format!("echo '{said}'"));
        let error = find(Some(&old), None, folder.path()).unwrap_err();
        assert!(error.to_string().ends_with(complaint), "{error}");
    }
}

#[test]
fn a_server_that_does_not_start_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let lines =
        "case $1 in --version) echo 'Redis server v=7.4.1 sha=0';; *) echo 'no room on board' >&2; exit 7;; esac";
    let broken = program(folder.path(), "redis-server", lines);
    run(async {
        let fleet = Fleet::new(find(Some(&broken), None, folder.path()).unwrap());
        let error = fleet.prepare(&single()).await.unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, ServersError::Start { .. }), "{said}");
        assert!(said.contains("redis did not start") && said.contains("exit status: 7"), "{said}");
        assert!(said.contains("no room on board"), "{said}");
    });
}

/// The user's own configuration is never read, wherever lockscope is started.
#[test]
fn the_users_settings_are_left_alone() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let redis::Value::Map(found) = servers_support::at(&servers, "redis", "CONFIG GET *").await else { panic!() };
        let get = |name: &str| {
            servers_support::text(&found.iter().find(|(key, _)| servers_support::text(key) == name).unwrap().1)
        };
        assert_eq!((get("save").as_str(), get("appendonly").as_str(), get("daemonize").as_str()), ("", "no", "no"));
        let home = PathBuf::from(get("dir"));
        assert!(home.starts_with(fleet.folder().unwrap()));
        assert_eq!(home.join("redis.conf").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(exists(&home.join("redis.log")));
    });
}
