//! Three brokers on the loopback address, as real processes.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// Running brokers. They end when this is dropped.
pub struct Brokers {
    nodes: Vec<Node>,
    dir: tempfile::TempDir,
}

struct Node {
    child: Option<Child>,
    port: u16,
    monitor: u16,
}

/// Finds `nats-server`: the file that `NATS_SERVER` names, else the one in the folder into which CI installs it, else
/// the one on the PATH.
pub fn server() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers/venv/bin/nats-server");
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&on_path).map(|folder| folder.join("nats-server"));
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    named.into_iter().chain([installed]).chain(on_path).find(|file| file.is_file())
}

impl Brokers {
    /// The number of brokers.
    const NODES: usize = 3;
    /// The longest time in which they must find a leader.
    const START: Duration = Duration::from_secs(30);

    /// Starts the brokers, with this `sync_interval`.
    pub fn start(sync: &str) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let ports = free_ports(3 * Self::NODES)?;
        let routes: Vec<String> = ports[..Self::NODES].iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut nodes = Vec::new();
        for at in 0..Self::NODES {
            let (route, port, monitor) = (ports[at], ports[Self::NODES + at], ports[2 * Self::NODES + at]);
            let store = dir.path().join(format!("n{at}"));
            let config = format!(
                "server_name: n{at}\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n\
                 jetstream {{ store_dir: {:?}, sync_interval: {sync} }}\n\
                 cluster {{ name: test, no_advertise: true, listen: 127.0.0.1:{route}, routes: {routes:?} }}\n",
                store.display()
            );
            std::fs::write(dir.path().join(format!("n{at}.conf")), config)?;
            nodes.push(Node { child: None, port, monitor });
        }
        let mut brokers = Self { nodes, dir };
        for at in 0..Self::NODES {
            brokers.revive(at)?;
        }
        brokers.wait()?;
        Ok(brokers)
    }

    /// Starts a broker that was killed.
    pub fn revive(&mut self, at: usize) -> anyhow::Result<()> {
        let log = std::fs::File::create(self.dir.path().join(format!("n{at}.log")))?;
        let mut command = Command::new(server().context("no nats-server")?);
        command.arg("-c").arg(self.dir.path().join(format!("n{at}.conf")));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.nodes[at].child = Some(command.spawn()?);
        Ok(())
    }

    /// Kills a broker (SIGKILL).
    pub fn kill(&mut self, at: usize) -> anyhow::Result<()> {
        if let Some(mut child) = self.nodes[at].child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Waits until all brokers are ready.
    pub fn wait(&self) -> anyhow::Result<()> {
        let begin = Instant::now();
        let is_ready = |node: &Node| {
            let healthy = crate::client::get(([127, 0, 0, 1], node.monitor).into(), "localhost", "/healthz", "");
            healthy.is_ok_and(|reply| reply.status == 200)
        };
        while !self.nodes.iter().all(is_ready) {
            if begin.elapsed() > Self::START {
                bail!("the brokers are not ready: see {}", self.dir.path().display());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The value for `--cluster`.
    pub fn address(&self) -> String {
        address(&self.ports())
    }

    /// The ports for clients. Clients learn of no other ports, because the brokers do not advertise theirs.
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.iter().map(|node| node.port).collect()
    }

    /// The value for `--monitor`.
    pub fn monitor(&self) -> String {
        let urls: Vec<String> = self.nodes.iter().map(|node| format!("http://127.0.0.1:{}", node.monitor)).collect();
        urls.join(",")
    }

    /// A command of the crawler about the crawl `name` on these brokers.
    pub fn command(&self, program: impl AsRef<OsStr>, words: &[&str], name: &str) -> Command {
        self.command_by(&self.address(), program, words, name)
    }

    /// Like [`Self::command`], but the program reaches the brokers at another address.
    pub fn command_by(&self, address: &str, program: impl AsRef<OsStr>, words: &[&str], name: &str) -> Command {
        let mut command = Command::new(program);
        command.args(words).args(["--cluster", address, "--monitor", &self.monitor(), "--name", name]);
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Brokers {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            if let Some(mut child) = node.child.take() {
                // It may have ended already.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// The value for `--cluster` if brokers listen at these ports.
pub fn address(ports: &[u16]) -> String {
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    format!("nats://{}", hosts.join(","))
}

/// Ports on which no program listens now.
pub(super) fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<_, _>>()?;
    Ok(listeners
        .iter()
        .map(|listener| listener.local_addr().map(|address| address.port()))
        .collect::<Result<_, _>>()?)
}
