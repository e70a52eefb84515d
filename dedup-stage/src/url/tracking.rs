//! Parameters that tell a site where its visitor came from, and nothing about what is asked for. The names are those of
//! the public-domain list of the tracking-parameters project (github.com/mpchadwick/tracking-query-params-registry), in
//! lower case, with two changes: every name that begins with `utm_` counts, and names that mean something else elsewhere
//! count on the sites of their platform only.

/// Names that count everywhere, in order.
const NAMES: [&str; 85] = [
    "_branch_match_id",
    "_bta_c",
    "_bta_tid",
    "_ga",
    "_gl",
    "_ke",
    "_kx",
    "dclid",
    "dm_i",
    "ef_id",
    "epik",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "gdffi",
    "gdfms",
    "gdftrk",
    "gpromocode",
    "gqt",
    "hsa_acc",
    "hsa_ad",
    "hsa_cam",
    "hsa_grp",
    "hsa_kw",
    "hsa_mt",
    "hsa_net",
    "hsa_src",
    "hsa_tgt",
    "hsa_ver",
    "igshid",
    "irclickid",
    "matomo_campaign",
    "matomo_cid",
    "matomo_content",
    "matomo_group",
    "matomo_keyword",
    "matomo_medium",
    "matomo_placement",
    "matomo_source",
    "mc_cid",
    "mc_eid",
    "mkwid",
    "msclkid",
    "mtm_campaign",
    "mtm_cid",
    "mtm_content",
    "mtm_group",
    "mtm_keyword",
    "mtm_medium",
    "mtm_placement",
    "mtm_source",
    "ndclid",
    "pcrid",
    "piwik_campaign",
    "piwik_keyword",
    "piwik_kwd",
    "pk_campaign",
    "pk_keyword",
    "pk_kwd",
    "redirect_log_mongo_id",
    "redirect_mongo_id",
    "rtid",
    "s_kwcid",
    "sb_referer_host",
    "sccid",
    "sms_click",
    "sms_source",
    "sms_uph",
    "srsltid",
    "trk_contact",
    "trk_module",
    "trk_msg",
    "trk_sid",
    "ttclid",
    "tw_adid",
    "tw_campaign",
    "tw_content",
    "tw_source",
    "tw_term",
    "twclid",
    "vmcid",
    "wbraid",
    "yclid",
];

/// Names that count on the hosts of one platform: a label of its registrable domains, and the names.
const OF_PLATFORMS: [(&str, &[&str]); 4] = [
    ("ebay", &["campid", "customid", "mkcid", "mkevt", "mkrid", "toolid"]),
    ("spotify", &["si"]),
    ("youtu", &["si"]),
    ("youtube", &["si"]),
];

/// The longest name of [`NAMES`].
const LONGEST: usize = 21;

/// For each first octet the lengths of names that begin with it, as bits: most parameters are settled by one look.
const LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < NAMES.len() {
        lengths[NAMES[at].as_bytes()[0] as usize] |= 1 << NAMES[at].len();
        at += 1;
    }
    lengths
};

/// Whether a parameter only tracks its visitor, on a site with this host. Names are compared without case.
pub(super) fn is_tracking(name: &[u8], host: &str) -> bool {
    let Some(first) = name.first() else { return false };
    let mut lower = [0; LONGEST];
    if name.len() <= LONGEST && LENGTHS[usize::from(first.to_ascii_lowercase())] & 1 << name.len() != 0 {
        let lower = &mut lower[..name.len()];
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        if NAMES.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok() {
            return true;
        }
    }
    name.len() > 4 && name[..4].eq_ignore_ascii_case(b"utm_") || is_of_platform(name, host)
}

fn is_of_platform(name: &[u8], host: &str) -> bool {
    OF_PLATFORMS.iter().any(|(platform, names)| {
        names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
            && host.split('.').any(|label| label.eq_ignore_ascii_case(platform))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_short() {
        assert!(NAMES.is_sorted() && NAMES.iter().all(|name| name.len() <= LONGEST && *name == name.to_lowercase()));
    }

    #[test]
    fn knows_tracking_from_content() {
        for name in
            ["gclid", "fbclid", "ScCid", "utm_source", "UTM_anything", "mtm_cid", "redirect_log_mongo_id", "gQT"]
        {
            assert!(is_tracking(name.as_bytes(), "a.example"), "{name}");
        }
        for name in
            ["", "id", "utm_", "utmost", "page", "si", "campid", "gclidx", "a_very_long_name_that_nobody_would_write"]
        {
            assert!(!is_tracking(name.as_bytes(), "a.example"), "{name}");
        }
        assert!(
            is_tracking(b"si", "www.youtube.com")
                && is_tracking(b"SI", "youtu.be")
                && !is_tracking(b"si", "spotifyx.com")
        );
        assert!(is_tracking(b"campid", "www.ebay.co.uk") && !is_tracking(b"campid", "www.youtube.com"));
    }

    /// The list that the names are from, where it is at hand: each of its names counts somewhere.
    #[test]
    fn every_name_of_the_list_counts() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/url/tracking-parameters.csv");
        let Ok(list) = std::fs::read_to_string(path) else {
            println!("skipped: no {path}");
            return;
        };
        let names: Vec<_> = list.lines().skip(1).map(|line| line.split(',').next().unwrap().trim()).collect();
        assert_eq!(names.len(), 102);
        for name in names {
            let somewhere = ["a.example", "www.ebay.com", "open.spotify.com"];
            assert!(somewhere.iter().any(|host| is_tracking(name.as_bytes(), host)), "{name}");
        }
    }
}
