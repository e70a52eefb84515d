//! State across runs: what counts, what is cut back.

use ::url::Url;

use super::*;
use crate::store::{Batch, Memory, Store, Visitor};
use crate::url::Canonicalizer;

/// A memory store that outlives its session, as a disk does.
#[derive(Clone, Default)]
struct Disk(std::sync::Arc<std::sync::Mutex<Memory>>);

impl Store for Disk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.lock().unwrap().get(space, key)
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        self.0.lock().unwrap().scan(space, from, to, visit)
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        self.0.lock().unwrap().commit(batch)
    }
}

fn open(disk: &Disk) -> Stage {
    Stage::open(Session::new(Box::new(disk.clone())), 3, OnDuplicate::Drop).unwrap()
}

/// Judges page number `n` of a small world in which pages repeat.
fn judge(stage: &mut Stage, n: u64) -> String {
    let words: Vec<String> = (0..80).map(|word| format!("word{}", (n % 7) * 1000 + word)).collect();
    let body = format!("<p>{}</p><a href='/{}'>next</a>", words.join(" "), n % 11);
    let url = Url::parse(&format!("http://a.test/page/{n}")).unwrap();
    let mut preparer = Preparer::new(Canonicalizer::default(), stage.hasher().clone());
    let page = preparer.prepare(&Source {
        url: &url,
        status: 200,
        content_type: Some("text/html"),
        body: body.as_bytes(),
        whole: true,
        links: None,
    });
    let name = Twin { url: url.into(), id: None };
    let outcome = stage.judge(page, &name, 1.0).unwrap();
    format!(
        "{:?} {:?} {:?}",
        outcome.judgement,
        outcome.twin.map(|twin| twin.url),
        outcome.links.iter().map(|l| l.url.as_str()).collect::<Vec<_>>()
    )
}

#[test]
fn what_was_not_flushed_never_was() {
    let undisturbed = Disk::default();
    let mut stage = open(&undisturbed);
    let expected: Vec<String> = (0..60).map(|n| judge(&mut stage, n)).collect();
    for (flushed, crashed) in [(0, 5), (1, 40), (20, 20), (33, 59)] {
        for spill in [false, true] {
            let disk = Disk::default();
            let mut stage = open(&disk);
            for n in 0..crashed {
                if n == flushed {
                    stage.flush().unwrap();
                }
                assert_eq!(judge(&mut stage, n), expected[n as usize]);
                if spill {
                    stage.spill().unwrap();
                }
            }
            if flushed == crashed {
                stage.flush().unwrap();
            }
            drop(stage);
            let mut stage = open(&disk);
            assert_eq!(stage.counts().pages, flushed);
            for n in flushed..60 {
                assert_eq!(judge(&mut stage, n), expected[n as usize], "flushed at {flushed}, crashed at {crashed}");
            }
        }
    }
}

#[test]
fn a_state_of_another_kind_is_refused() {
    let mut disk = Disk::default();
    let foreign =
        crate::store::Change { space: Space::META, key: b"format".to_vec(), value: Some(b"crawl-1".to_vec()) };
    disk.commit(&vec![foreign]).unwrap();
    let refused = Stage::open(Session::new(Box::new(disk)), 3, OnDuplicate::Drop);
    assert!(refused.unwrap_err().to_string().contains("another kind"));
}
