//! SIGINT, SIGTERM and SIGHUP. The first signal stops the crawl gracefully, the second at once. After both, the crawl
//! can be continued. SIGXFSZ is caught, so that a file that becomes larger than `ulimit -f` allows is an error of the
//! write, which is told, and not the end of the process.

use crossbeam_channel::Sender;
use tokio::signal::unix::{SignalKind, signal};

use super::exit;
use crate::engine::Control;
use crate::terminal::say::say;
use crate::terminal::screen;

/// Watches for signals, on a thread of its own, until the process ends.
pub fn watch(control: Sender<Control>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate, mut hang_up) = {
        let _inside = runtime.enter();
        // The handler stays when its stream is dropped.
        drop(signal(SignalKind::from_raw(libc::SIGXFSZ))?);
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?)
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            for count in 1.. {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hang_up.recv() => {}
                }
                if count > 1 {
                    screen::clear();
                    std::process::exit(i32::from(exit::STOPPED));
                }
                say!("stopping: open requests end and the state is saved; once more to stop at once");
                // The engine may have ended already. Then there is nothing left to stop.
                let _ = control.send(Control::Stop);
            }
        });
    })?;
    Ok(())
}
