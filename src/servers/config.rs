//! The configuration of a private server: ours alone, written into its own folder, never the user's.

use super::Persistence;

/// The socket's name inside the server's folder.
pub(super) const SOCKET: &str = "redis.sock";
/// The file's name inside the server's folder.
pub(super) const CONFIG: &str = "redis.conf";
/// The engine's own user, who may do everything.
pub(super) const ADMIN: &str = "lockscope";
/// The same for the connection that looks: it must outlast the one that throws everybody else out between two lessons.
pub(super) const EYES: &str = "lockscope-eyes";

/// What the engine may change in the course of a run, and what it is put back to before the next.
pub(super) const RESTORED: [(&str, &str); 6] = [
    // Key events of all kinds; not per-key channels, which would only double the work.
    ("notify-keyspace-events", "EA"),
    // A script that runs for so long may be killed; the lesson is told within a second.
    ("busy-reply-threshold", "200"),
    ("min-replicas-to-write", "0"),
    ("min-replicas-max-lag", "10"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
];

/// What never changes, and why it is not the default.
const FIXED: [(&str, &str); 17] = [
    // Unix socket only: nobody else on the machine can reach it, no port to collide with. Replicas come through a relay
    // that lockscope owns.
    ("port", "0"),
    ("unixsocketperm", "700"),
    ("protected-mode", "yes"),
    ("daemonize", "no"),
    ("logfile", "\"\""),
    ("always-show-logo", "no"),
    ("databases", "1"),
    ("maxclients", "512"),
    // `expired` events come 79 ms late at the default of 10, and 2 ms late at 500.
    ("hz", "500"),
    ("save", "\"\""),
    // The log of commands is never rewritten in the middle of a lesson.
    ("auto-aof-rewrite-percentage", "0"),
    // A pair is synced in 29 ms from the master's disk; without it the first WAIT takes a second.
    ("repl-diskless-sync", "no"),
    // Straight from the link into memory: a replica of Valkey 9 that takes the way by its own disk looks once a second
    // whether the file has come.
    ("repl-diskless-load", "swapdb"),
    // No stray bytes on the replication link, and no time-outs of an idle one.
    ("repl-ping-replica-period", "3600"),
    ("repl-timeout", "7200"),
    // A held or slow link keeps a replica behind for as long as the student looks at it.
    ("client-output-buffer-limit", "replica 0 0 0"),
    // Full syncs leave no file behind that a later start would load.
    ("rdb-del-sync-files", "yes"),
];

/// The text of the file. Nothing in it depends on where the folder is: the server runs inside it. `replicas` and
/// `sentinels`: users for those who come as what they are (where there are Sentinels).
pub(super) fn text(persistence: Persistence, password: &str, replicas: &[String], sentinels: &[String]) -> String {
    let (append_only, sync) = match persistence {
        Persistence::None => ("no", "everysec"),
        Persistence::EverySec => ("yes", "everysec"),
        Persistence::Always => ("yes", "always"),
    };
    let mut lines: Vec<String> = FIXED.iter().chain(&RESTORED).map(|(name, value)| format!("{name} {value}")).collect();
    lines.push(format!("unixsocket {SOCKET}"));
    lines.push(format!("appendonly {append_only}"));
    lines.push(format!("appendfsync {sync}"));
    // Nobody is `default`: AUTH as default is refused, and RESET leaves a connection without any user. Only the server
    // itself is: it reads its log in that name, and would leave out every transaction that `default` may not execute.
    lines.push("user default reset off ~* &* +@all".to_owned());
    lines.push(format!("user {ADMIN} on >{password} ~* &* +@all"));
    lines.push(format!("user {EYES} on >{password} ~* &* +@all"));
    for name in replicas {
        lines.push(format!("user {name} on >{password} resetkeys resetchannels -@all +psync +replconf +ping"));
    }
    for name in sentinels {
        // As Redis's page on Sentinel lists them, but for PUBLISH: what they would tell each other through the nodes goes
        // through the replication links too, and there it would stand between a lesson's writes. They tell each other the
        // same on their own connections.
        lines.push(format!(
            "user {name} on >{password} resetkeys allchannels -@all +multi +slaveof +ping +exec +subscribe \
             +config|rewrite +role +info +client|setname +client|kill +script|kill"
        ));
    }
    lines.push(format!("masteruser {ADMIN}"));
    lines.push(format!("masterauth {password}"));
    lines.push(String::new());
    lines.join("\n")
}
