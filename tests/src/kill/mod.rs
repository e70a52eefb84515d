//! The kill test: a crawl is killed at random moments, and its files are damaged in between. It must end with the pages
//! of an undisturbed crawl, or report what is damaged.

mod blow;
mod files;
mod left;
mod readers;
mod spare;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fastrand::Rng;

use crate::crawl::{lines, text};
use crate::power;
use crate::sound::sound_at;
pub use blow::{Blow, End, Kill, KillPoint};
use files::{Aim, footprint, last_of_state, log_of};
use left::{Left, check_archive, left};
use spare::Spare;

/// A crawl that can be run again and again.
#[derive(Clone, Debug)]
pub struct Victim {
    /// The `crawl` program of this package.
    pub program: PathBuf,
    /// The arguments of `crawl`, including seeds but not `--dir`.
    pub arguments: Vec<OsString>,
}

/// The parameters of the long test.
#[derive(Clone, Debug)]
pub struct Torture<'a> {
    /// The folder of the crawls.
    pub base: &'a Path,
    /// The total number of kills.
    pub kills: u32,
    /// The longest time between two kills.
    pub longest: Duration,
    /// Whether outputs are split into parts. If so, every other kill is aimed at a rotation.
    pub in_parts: bool,
    /// The seed for the moments and the damage.
    pub seed: u64,
    /// The ways to crawl. The crawls use them in turn.
    pub courses: &'a [Course],
}

/// One way to crawl.
#[derive(Clone, Debug)]
pub struct Course {
    /// The arguments that are added to those of the victim.
    pub flags: Vec<OsString>,
    /// The pages of an undisturbed crawl, each once.
    pub expected: BTreeMap<String, u32>,
}

impl Victim {
    /// The same crawl with more arguments.
    pub fn with(&self, flags: &[OsString]) -> Self {
        Self { program: self.program.clone(), arguments: [&self.arguments[..], flags].concat() }
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("crawl").arg("--dir").arg(dir).args(&self.arguments).env("TEST_FSYNC_LOG", log_of(dir));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Runs the crawl to its end. Returns the number of lines in `pages.jsonl` for each URL.
    pub fn finish(&self, dir: &Path) -> anyhow::Result<BTreeMap<String, u32>> {
        match self.run(dir, None)? {
            Life::Done => {}
            Life::Told(said) => bail!("the crawl in {} says {said}", dir.display()),
            Life::Killed(_) => bail!("nobody killed it"),
        }
        check_archive(dir)?;
        sound_at(dir)?;
        let mut urls = BTreeMap::new();
        for line in lines(dir, "pages.jsonl")? {
            *urls.entry(text(&line, "url").to_owned()).or_default() += 1;
        }
        Ok(urls)
    }

    /// Kills crawls as often as `torture` says, in as many crawls as it takes, and compares the pages of each crawl
    /// with the expected ones. Returns the number of crawls. Calls `told` after each kill. Every other kill is aimed:
    /// it waits until a file is being written. After each kill, one of the programs that read a crawl directory is
    /// killed as well.
    pub fn torture(&self, torture: &Torture<'_>, mut told: impl FnMut(u32, &Kill)) -> anyhow::Result<u32> {
        let mut random = Rng::with_seed(torture.seed);
        let (mut done, mut crawls) = (0, 0);
        while done < torture.kills {
            let dir = torture.base.join(format!("killed-{crawls}"));
            let Course { flags, expected } = &torture.courses[crawls as usize % torture.courses.len()];
            let victim = self.with(flags);
            crawls += 1;
            let mut spare = Spare { dir: &dir, taken: false };
            while done < torture.kills {
                let share = 0.05 + 0.95 * random.f64();
                let unaimed = if torture.in_parts { Aim::Rotation } else { Aim::None };
                let aim = [unaimed, Aim::Write, unaimed, Aim::Journal][done as usize % 4];
                let moment = Moment { after: torture.longest.mul_f64(share), aim };
                let Left { after, point, ahead, unsound } = match victim.run(&dir, Some(moment))? {
                    Life::Killed(left) => left,
                    Life::Told(said) => {
                        spare.restore().context(said)?;
                        continue;
                    }
                    Life::Done => break,
                };
                // If there was damage that was not noticed yet, the check may find it now. Without damage, it must find
                // nothing.
                if let Some(unsound) = unsound.filter(|_| !spare.taken) {
                    return Err(unsound.context(format!("killed at {point:?}")));
                }
                let blow = if point == KillPoint::Start { Blow::Kill } else { BLOWS[random.usize(..BLOWS.len())] };
                let end =
                    victim.strike(&mut spare, blow, &mut random).with_context(|| format!("{blow:?} at {point:?}"))?;
                readers::kill_one(&self.program, &dir, expected, &mut random)?;
                done += 1;
                told(done, &Kill { blow, after, point, ahead, end });
            }
            let urls = match victim.finish(&dir) {
                Err(error) if spare.taken => {
                    spare.restore().context(error)?;
                    victim.finish(&dir)
                }
                result => result,
            }?;
            let lost: Vec<_> = expected.keys().filter(|url| !urls.contains_key(*url)).collect();
            let more: Vec<_> =
                urls.iter().filter(|(url, count)| **count != 1 || !expected.contains_key(*url)).collect();
            ensure!(
                lost.is_empty() && more.is_empty(),
                "crawl {crawls}: lost {lost:?}, too often or not expected {more:?}"
            );
        }
        Ok(crawls)
    }

    /// Starts or resumes the crawl in `dir`, and lets it run to its end or until it is killed.
    fn run(&self, dir: &Path, moment: Option<Moment>) -> anyhow::Result<Life> {
        let start = Instant::now();
        let mut child = self.command(dir).stderr(Stdio::piped()).spawn()?;
        let ended = said_by(&mut child)?;
        let said = match moment {
            None => ended.recv()?,
            Some(Moment { after, aim }) => {
                let mut end = ended.recv_timeout(after);
                if aim != Aim::None {
                    let before = footprint(dir, aim);
                    while end.is_err() && footprint(dir, aim) == before && start.elapsed() < after * 4 {
                        end = ended.recv_timeout(Duration::from_micros(200));
                    }
                }
                match end {
                    Ok(said) => said,
                    Err(_) => {
                        child.kill()?;
                        child.wait()?;
                        let after = start.elapsed();
                        return Ok(Life::Killed(left(dir, after)?));
                    }
                }
            }
        };
        let status = child.wait()?;
        let said = said?.trim().to_owned();
        let names_damage = ["damaged", "has recorded"].iter().any(|word| said.contains(word));
        match status.code() {
            Some(0) => Ok(Life::Done),
            Some(1) if names_damage => Ok(Life::Told(said)),
            _ => bail!("the crawl in {} ended with {status}: {said}", dir.display()),
        }
    }

    /// Damages a crawl that was killed, and checks whether it resumes. If it refuses, the damage is undone.
    fn strike(&self, spare: &mut Spare<'_>, blow: Blow, random: &mut Rng) -> anyhow::Result<End> {
        let dir = spare.dir;
        match (blow, last_of_state(dir)?) {
            (Blow::Kill, _) | (_, None) => return Ok(End::Resumed),
            (Blow::Power, _) => {
                power::cut(dir, &power::durable(&log_of(dir)), random)?;
            }
            (Blow::Cut, Some(path)) => {
                spare.take()?;
                let length = random.u64(..power::written(&path)?.max(1));
                OpenOptions::new().write(true).open(&path)?.set_len(length)?;
            }
            (Blow::Flip, Some(path)) => {
                spare.take()?;
                let at = random.u64(..power::written(&path)?.max(1));
                let file = OpenOptions::new().read(true).write(true).open(&path)?;
                let mut byte = [0];
                file.read_exact_at(&mut byte, at)?;
                file.write_all_at(&[byte[0] ^ 1 << random.u8(..8)], at)?;
            }
        }
        match self.run(dir, Some(Moment { after: PROOF, aim: Aim::None }))? {
            // On a busy machine, the crawl was killed before it had read its state.
            Life::Killed(Left { unsound: Some(damage), .. }) if spare.taken => {
                spare.restore()?;
                Ok(End::Told(format!("{damage:#}")))
            }
            Life::Killed(_) | Life::Done => Ok(End::Resumed),
            // A power cut loses nothing that was durable, so the crawl must not refuse to resume.
            Life::Told(said) if blow == Blow::Power => bail!("after a power cut: {said}"),
            Life::Told(said) => {
                spare.restore()?;
                Ok(End::Told(said))
            }
        }
    }
}

/// Reads the stderr of a process. The text is sent when the process has ended.
fn said_by(child: &mut Child) -> anyhow::Result<Receiver<std::io::Result<String>>> {
    let mut stderr = child.stderr.take().context("stderr")?;
    let (tell, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        let read = stderr.read_to_string(&mut said);
        tell.send(read.map(|_| said))
    });
    Ok(ended)
}

/// The ways to kill and damage. One of them is chosen at random.
const BLOWS: [Blow; 8] =
    [Blow::Kill, Blow::Power, Blow::Kill, Blow::Cut, Blow::Power, Blow::Kill, Blow::Power, Blow::Flip];

/// If a crawl runs for this long, it has read its state.
const PROOF: Duration = Duration::from_millis(400);

/// The moment of a kill.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// The shortest time from the start of the process to the kill.
    after: Duration,
    /// The event for which the kill waits after this time.
    aim: Aim,
}

/// The result of a process.
#[derive(Debug)]
enum Life {
    /// It ended by itself, with everything done.
    Done,
    /// It was killed.
    Killed(Left),
    /// It refused to resume, with this message.
    Told(String),
}
