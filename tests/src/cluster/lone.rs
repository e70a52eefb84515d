//! One broker on the loopback address, with a configuration of its own.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::brokers::{address, free_ports, server};

/// A running broker. It ends when this is dropped.
pub struct Lone {
    child: Child,
    port: u16,
    monitor: u16,
    _dir: tempfile::TempDir,
}

impl Lone {
    /// Starts a broker. `more` is added to its configuration; `STORE` in it stands for a folder.
    pub fn start(more: &str) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let ports = free_ports(2)?;
        let (port, monitor) = (ports[0], ports[1]);
        let more = more.replace("STORE", &format!("{:?}", dir.path().join("store")));
        let config = format!("listen: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n{more}\n");
        let file = dir.path().join("nats.conf");
        std::fs::write(&file, config)?;
        let mut command = Command::new(server().context("no nats-server")?);
        command.arg("-c").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut lone = Self { child: command.spawn()?, port, monitor, _dir: dir };
        let begin = Instant::now();
        let is_ready = || {
            let reply = crate::client::get(([127, 0, 0, 1], monitor).into(), "localhost", "/healthz", "");
            reply.is_ok_and(|reply| reply.status == 200)
        };
        while !is_ready() {
            ensure!(lone.child.try_wait()?.is_none(), "the broker has ended");
            ensure!(begin.elapsed() < Duration::from_secs(30), "the broker is not ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(lone)
    }

    /// The value for `--cluster`, with a user (`name:password@`) if that is not empty.
    pub fn address(&self, user: &str) -> String {
        address(&[self.port]).replace("://", &format!("://{user}"))
    }

    /// The value for `--monitor`.
    pub fn monitor(&self) -> String {
        format!("http://127.0.0.1:{}", self.monitor)
    }
}

impl Drop for Lone {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
