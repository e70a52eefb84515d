//! A connection to brokers that can be cut. Bytes that are sent while it is cut are delivered when it works again, as
//! on a network that loses packets and repeats them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::brokers::address;

/// Forwarded ports, which are cut together.
pub struct Cable {
    ports: Vec<u16>,
    is_cut: Arc<AtomicBool>,
}

impl Cable {
    /// Opens a local port for each of these ports, and forwards connections to it.
    pub fn to(ports: &[u16]) -> anyhow::Result<Self> {
        let is_cut = Arc::<AtomicBool>::default();
        let mut own = Vec::new();
        for to in ports.iter().copied() {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            own.push(listener.local_addr()?.port());
            let is_cut = Arc::clone(&is_cut);
            // This thread lives as long as the test program.
            thread::spawn(move || {
                for client in listener.incoming().flatten() {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                    let (Ok(back), Ok(forth)) = (server.try_clone(), client.try_clone()) else { continue };
                    let (one, other) = (Arc::clone(&is_cut), Arc::clone(&is_cut));
                    thread::spawn(move || carry(client, server, &one));
                    thread::spawn(move || carry(back, forth, &other));
                }
            });
        }
        Ok(Self { ports: own, is_cut })
    }

    /// The value for `--cluster`.
    pub fn address(&self) -> String {
        address(&self.ports)
    }

    /// Cuts all connections, or restores them.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while is_cut.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    // The other side may have gone before.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
