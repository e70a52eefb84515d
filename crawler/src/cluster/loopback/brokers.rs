//! Three brokers on loopback, with their directories.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use super::child::{Child, Program};

/// The number of brokers: with three, one may fail.
const COUNT: usize = 3;

/// The brokers that were started.
#[derive(Debug)]
pub struct Brokers {
    /// The value for `--cluster`.
    pub address: String,
    /// The value for `--monitor`.
    pub monitor: Vec<String>,
    /// The processes of the brokers.
    pub children: Vec<Child>,
}

impl Brokers {
    /// Starts brokers whose directories are in `dir`. If an earlier run has left directories there, its brokers go on,
    /// on other ports.
    pub fn start(server: &Path, dir: &Path) -> std::io::Result<Self> {
        let ports = free_ports(3 * COUNT)?;
        let (routes, rest) = ports.split_at(COUNT);
        let (clients, monitors) = rest.split_at(COUNT);
        let routes_named: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut children = Vec::new();
        for at in 0..COUNT {
            let number = at + 1;
            let file = |ending: &str| dir.join(format!("broker-{number}{ending}"));
            // The brokers' store identifies the brokers by these names.
            let config = format!(
                "server_name: broker-{number}\nlisten: 127.0.0.1:{}\nhttp: 127.0.0.1:{}\n\
                 jetstream {{ store_dir: {:?}, sync_interval: always }}\n\
                 cluster {{ name: loopback, listen: 127.0.0.1:{}, routes: {routes_named:?} }}\n",
                clients[at],
                monitors[at],
                file("").display(),
                routes[at]
            );
            fs::write(file(".conf"), config)?;
            children.push(Child::start(Program {
                name: format!("broker {number}"),
                file: server.to_owned(),
                arguments: vec!["-c".into(), file(".conf").into()],
                log: file(".log"),
            })?);
        }
        let hosts: Vec<String> = clients.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let monitor = monitors.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        Ok(Self { address: format!("nats://{}", hosts.join(",")), monitor, children })
    }
}

/// Ports on which no program listens now.
fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    let listeners = (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<Vec<_>, _>>()?;
    listeners.iter().map(|listener| listener.local_addr().map(|address| address.port())).collect()
}
