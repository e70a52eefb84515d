//! Tests of the cache, and of the resolver against a name server on loopback.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use frontier::Failure;
use hickory_resolver::config::ConnectionConfig;

use super::*;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

#[test]
fn one_lookup_serves_all_who_wait() {
    let (cache, asked, now) = (Cache::default(), AtomicU32::new(0), Instant::now());
    let ask = |_| {
        cache.get("a.test", now, || async {
            asked.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            (Ok([IpAddr::from([192, 0, 2, 1])].into()), now + SHORTEST)
        })
    };
    let answers = run(futures_util::future::join_all((0..10).map(ask)));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert!(answers.iter().all(|answer| answer.as_deref() == Ok(&[IpAddr::from([192, 0, 2, 1])][..])));
}

#[test]
fn answers_and_failures_expire() {
    let (cache, now) = (Cache::default(), Instant::now());
    let later = |seconds| now + Duration::from_secs(seconds);
    let fails = || async { (Err(FetchError::Dns("no such name".into())), later(30)) };
    let found = || async { (Ok([IpAddr::from([192, 0, 2, 1])].into()), later(90)) };
    run(async {
        assert!(cache.get("a.test", now, fails).await.is_err());
        assert!(cache.get("a.test", later(29), found).await.is_err());
        assert!(cache.get("b.test", later(29), found).await.is_ok());
        assert!(cache.get("a.test", later(30), found).await.is_ok());
        assert!(cache.get("a.test", later(89), fails).await.is_ok());
        assert!(cache.get("a.test", later(90), fails).await.is_err());
    });
}

#[test]
fn the_cache_forgets_what_has_expired() {
    let (cache, now) = (Cache::default(), Instant::now());
    run(async {
        for i in 0..MOST_NAMES + 10 {
            let answer = || async { (Ok([].into()), now + FAILURE) };
            let _ = cache.get(&i.to_string(), now + Duration::from_secs(i as u64 / 1_000), answer).await;
        }
    });
    assert!(cache.slots.lock().expect("no panic").len() < MOST_NAMES);
}

#[test]
fn localhost_asks_nobody() {
    run(async {
        let names = Names::of_system().expect("a resolver");
        for name in ["localhost", "a.localhost"] {
            let found = names.lookup(name).await.expect("loopback");
            assert!(found.iter().all(IpAddr::is_loopback) && found.len() == 2);
        }
    });
}

/// A name server that answers each question with `answer(name, type)`: addresses, or `None` if there is no such name. It
/// does not answer at all while the name is [`SILENT`] or the returned flag is set.
fn name_server(
    answer: impl Fn(&str, u16) -> Option<Vec<IpAddr>> + Send + 'static,
) -> (Names, Arc<AtomicU32>, Arc<AtomicBool>) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let mut connection = ConnectionConfig::udp();
    connection.port = socket.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicU32::new(0));
    let is_silent = Arc::new(AtomicBool::new(false));
    let (count, silent) = (Arc::clone(&asked), Arc::clone(&is_silent));
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut query) {
            count.fetch_add(1, Ordering::Relaxed);
            let (mut name, mut at) = (String::new(), 12);
            while query[at] != 0 {
                let end = at + 1 + usize::from(query[at]);
                name = name + &String::from_utf8_lossy(&query[at + 1..end]) + ".";
                at = end;
            }
            if name == SILENT || silent.load(Ordering::Relaxed) {
                continue;
            }
            let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
            let found = answer(&name, kind);
            let addresses = found.iter().flatten();
            // The reply is the question with the bits of an answer, and the answers.
            let mut reply = query[..(at + 5).min(length)].to_vec();
            reply[2..4].copy_from_slice(&[0x81, if found.is_some() { 0x80 } else { 0x83 }]);
            reply[6..12].copy_from_slice(&[0, addresses.clone().count() as u8, 0, 0, 0, 0]);
            for address in addresses {
                let bytes = match address {
                    IpAddr::V4(address) => address.octets().to_vec(),
                    IpAddr::V6(address) => address.octets().to_vec(),
                };
                reply.extend([0xc0, 12, 0, kind as u8, 0, 1, 0, 0, 0, 5, 0, bytes.len() as u8]);
                reply.extend(bytes);
            }
            let _ = socket.send_to(&reply, client);
        }
    });
    let server = NameServerConfig::new(Ipv4Addr::LOCALHOST.into(), true, vec![connection]);
    let config = ResolverConfig::from_name_servers(vec![server]);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.options_mut().timeout = Duration::from_millis(200);
    (Names::with(builder).expect("a resolver"), asked, is_silent)
}

/// The name whose servers do not answer.
const SILENT: &str = "silent.test.";
const A: u16 = 1;
const AAAA: u16 = 28;

#[test]
fn names_are_asked_for_once() {
    let (names, asked, _) = name_server(|name, kind| match (name, kind) {
        ("both.test.", A) => Some(vec![[192, 0, 2, 1].into(), [192, 0, 2, 2].into()]),
        ("both.test.", AAAA) => Some(vec![Ipv6Addr::LOCALHOST.into()]),
        ("old.test.", A) => Some(vec![[192, 0, 2, 3].into()]),
        ("old.test.", _) => Some(vec![]),
        _ => None,
    });
    run(async {
        for _ in 0..3 {
            let mut both = names.lookup("both.test").await.expect("addresses").to_vec();
            both.sort();
            let expected: [IpAddr; 3] = [[192, 0, 2, 1].into(), [192, 0, 2, 2].into(), Ipv6Addr::LOCALHOST.into()];
            assert_eq!(both, expected);
            assert_eq!(*names.lookup("old.test").await.expect("an address"), [IpAddr::from([192, 0, 2, 3])]);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 4);
        for _ in 0..3 {
            let error = names.lookup("none.test").await.expect_err("no such name");
            assert!(matches!(error, FetchError::Dns(_)), "{error}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 6);
    });
}

/// Catches name servers that answer no more and are taken for hosts without addresses, and a name whose own servers are
/// silent that is taken for trouble of this machine.
#[test]
fn silent_name_servers_are_told_from_silent_names() {
    let (names, asked, is_silent) = name_server(|_, kind| (kind == A).then(|| vec![[192, 0, 2, 1].into()]));
    run(async {
        let kind = async |name: &str| names.lookup(name).await.map(|_| ()).map_err(|error| error.kind());
        is_silent.store(true, Ordering::Relaxed);
        let never = names.lookup("a.test").await.map(|_| ());
        assert_eq!(never, Err(FetchError::NoNameServer), "there may be no name server at all");
        is_silent.store(false, Ordering::Relaxed);
        assert_eq!(kind("b.test").await, Ok(()));
        assert_eq!(kind("silent.test").await, Err(Failure::Name));
        is_silent.store(true, Ordering::Relaxed);
        assert_eq!(kind("c.test").await, Err(Failure::Local));
        let before = asked.load(Ordering::Relaxed);
        assert_eq!(kind("d.test").await, Err(Failure::Local));
        assert_eq!(kind("b.test").await, Ok(()), "this answer is still valid");
        assert_eq!(asked.load(Ordering::Relaxed), before, "one lookup at a time asks");
    });
}
