//! Parameters that tell a site where its visitor came from, and nothing about what the visitor asks for. Every name
//! that begins with `utm_` counts, and so do the names of two lists, in lower case:
//!
//! - The first is the public-domain list of the tracking-parameters project
//!   (github.com/mpchadwick/tracking-query-params-registry), as read on 2026-11-22. Those of its names that mean
//!   something else on other sites count only on the sites of their platform.
//! - The second has plain names that platforms for mail, advertising and analytics write to addresses of any site, each
//!   with its platform. Browsers' and filters' lists for stripping agreed on them on 2026-11-22 (Brave's and
//!   LibreWolf's query filters, privacytests.org, github.com/henkisdabro/platform-url-click-id-parameters).
//!
//! Some names on those lists are ordinary words or abbreviations (`cid`, `ref`, `campaign`, `clickid`). They choose
//! content on some sites, so they do not count. Learned rules find out what they mean on a site.

/// Names of the registry that count on all sites, in order.
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

/// Other names that count on all sites, in order.
const MORE: [&str; 96] = [
    "__hsfp",               // HubSpot
    "__hssc",               // HubSpot
    "__hstc",               // HubSpot
    "__s",                  // Drip
    "__twitter_impression", // Twitter
    "_bhlid",               // beehiiv
    "_branch_referrer",     // Branch
    "_hsenc",               // HubSpot
    "_hsmi",                // HubSpot
    "_openstat",            // Openstat
    "action_object_map",    // Facebook
    "action_ref_map",       // Facebook
    "action_type_map",      // Facebook
    "adobe_mc_ref",         // Adobe
    "adobe_mc_sdid",        // Adobe
    "algo_expid",           // Alibaba
    "algo_pvid",            // Alibaba
    "at_campaign",          // Piano
    "at_medium",            // Piano
    "at_recipient_id",      // Piano
    "at_recipient_list",    // Piano
    "auctid",               // Teads
    "bsft_clkid",           // Blueshift
    "bsft_uid",             // Blueshift
    "cjdata",               // Commission Junction
    "cjevent",              // Commission Junction
    "ck_subscriber_id",     // Kit
    "dicbo",                // Outbrain
    "elqcampaignid",        // Eloqua
    "elqtrack",             // Eloqua
    "elqtrackid",           // Eloqua
    "et_rid",               // Salesforce
    "fb_action_ids",        // Facebook
    "fb_action_types",      // Facebook
    "fb_ref",               // Facebook
    "fb_source",            // Facebook
    "ga_campaign",          // Google
    "ga_content",           // Google
    "ga_medium",            // Google
    "ga_place",             // Google
    "ga_source",            // Google
    "ga_term",              // Google
    "gad_campaignid",       // Google
    "guccounter",           // Yahoo
    "guce_referrer",        // Yahoo
    "guce_referrer_sig",    // Yahoo
    "hsctatracking",        // HubSpot
    "igsh",                 // Instagram
    "irgwc",                // Impact
    "itm_campaign",         // in-site campaigns
    "itm_content",          // in-site campaigns
    "itm_medium",           // in-site campaigns
    "itm_source",           // in-site campaigns
    "itm_term",             // in-site campaigns
    "li_fat_id",            // LinkedIn
    "mkt_tok",              // Marketo
    "ml_subscriber",        // MailerLite
    "ml_subscriber_hash",   // MailerLite
    "oft_c",                // platform not known
    "oft_ck",               // platform not known
    "oft_d",                // platform not known
    "oft_id",               // platform not known
    "oft_ids",              // platform not known
    "oft_k",                // platform not known
    "oft_lk",               // platform not known
    "oft_sk",               // platform not known
    "oly_anon_id",          // Omeda
    "oly_enc_id",           // Omeda
    "omnisendcontactid",    // Omnisend
    "pk_cid",               // Matomo
    "pk_content",           // Matomo
    "pk_medium",            // Matomo
    "pk_source",            // Matomo
    "rb_clickid",           // platform not known
    "rdt_cid",              // Reddit
    "ref_src",              // Twitter
    "s_cid",                // Adobe
    "sc_customer",          // Emarsys
    "sc_eh",                // Emarsys
    "sc_uid",               // Emarsys
    "soc_src",              // Yahoo
    "soc_trk",              // Yahoo
    "spm",                  // Alibaba
    "ss_email_id",          // Squarespace
    "tblci",                // Taboola
    "unicorn_click_id",     // platform not known
    "vero_conv",            // Vero
    "vero_id",              // Vero
    "vgo_ee",               // ActiveCampaign
    "wickedid",             // Wicked Reports
    "wt.mc_id",             // Webtrends
    "wt_mc",                // Mapp
    "wt_zmc",               // Mapp
    "ymclid",               // Yandex
    "ysclid",               // Yandex
    "zanpid",               // Zanox
];

/// Names that count only on the hosts of one platform. A platform is given by a label of its registrable domains.
const OF_PLATFORMS: [(&str, &[&str]); 4] = [
    ("ebay", &["campid", "customid", "mkcid", "mkevt", "mkrid", "toolid"]),
    ("spotify", &["si"]),
    ("youtu", &["si"]),
    ("youtube", &["si"]),
];

/// The longest name of [`NAMES`] and [`MORE`].
const LONGEST: usize = 21;

/// The lengths of the names that begin with each octet, as bits. For most parameters, one look at this table is enough.
const LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < NAMES.len() + MORE.len() {
        let name = if at < NAMES.len() { NAMES[at] } else { MORE[at - NAMES.len()] };
        lengths[name.as_bytes()[0] as usize] |= 1 << name.len();
        at += 1;
    }
    lengths
};

/// Whether a parameter only tracks visitors, on a site with this host. Names are compared without case.
pub(super) fn is_tracking(name: &[u8], host: &str) -> bool {
    let Some(first) = name.first() else { return false };
    let mut lower = [0; LONGEST];
    if name.len() <= LONGEST && LENGTHS[usize::from(first.to_ascii_lowercase())] & 1 << name.len() != 0 {
        let lower = &mut lower[..name.len()];
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let is_in = |names: &[&str]| names.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok();
        if is_in(&NAMES) || is_in(&MORE) {
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
        assert!(NAMES.is_sorted() && MORE.is_sorted());
        for name in NAMES.iter().chain(&MORE) {
            assert!(name.len() <= LONGEST && *name == name.to_lowercase(), "{name}");
            assert!(is_tracking(name.to_uppercase().as_bytes(), "a.example"), "{name}");
        }
        assert!(MORE.iter().all(|name| NAMES.binary_search(name).is_err()));
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

    /// The names that Brave, LibreWolf and privacytests.org strip from every address (2026-11-22).
    #[test]
    fn what_browsers_strip_counts() {
        for name in
            "__hsfp __hssc __hstc __s _hsenc _openstat dclid fbclid gbraid gclid hsCtaTracking igshid mc_eid mkt_tok \
                     ml_subscriber ml_subscriber_hash msclkid oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk \
                     oly_anon_id oly_enc_id rb_clickid s_cid spm twclid vero_conv vero_id wbraid wickedid yclid"
                .split_whitespace()
        {
            assert!(is_tracking(name.as_bytes(), "a.example"), "{name}");
        }
    }

    /// Parameters by which well-known software chooses what to show: WordPress, MediaWiki, phpBB, Drupal, Discourse,
    /// Shopify, WooCommerce, GitHub, YouTube, Google, eBay, Amazon, Stack Exchange, gitweb, cgit, DSpace, OJS, Moodle.
    #[test]
    fn what_chooses_content_is_kept() {
        for name in "p page paged page_id cat tag m s attachment_id preview author orderby order title action oldid diff \
                     curid redirect printable uselang f t start view st sk sd q query search keys keyword keywords term \
                     sort sort_by sort_order filter category categories product product_id sku variant v w list index \
                     id ids item item_id article article_id news_id story doc document file path node nid tid sid uid \
                     user user_id name lang language locale hl gl country region city year month day date from to since \
                     until time format type mode style theme display tab section chapter part offset limit count per_page \
                     rows size num first last after before cursor next prev a h hb hp o r rev ref branch commit source \
                     src url u link target redirect_to return continue state code token key hash version ver cid mid \
                     pid bid gid rid aid eid campaign campaign_id clickid ad ad_id scm channel medium partner affiliate \
                     spmid utm gcl mc vero oly hs ml"
            .split_whitespace()
        {
            for host in ["a.example", "www.youtube.com", "shop.example.co.uk"] {
                assert!(!is_tracking(name.as_bytes(), host), "{name}");
            }
        }
    }

    /// Compares the names with the list that they come from, if it is at hand: each of its names counts on some site.
    #[test]
    #[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
    fn every_name_of_the_list_counts() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/url/tracking-parameters.csv");
        let list = std::fs::read_to_string(path).expect("readable");
        let names: Vec<_> = list.lines().skip(1).map(|line| line.split(',').next().unwrap().trim()).collect();
        assert_eq!(names.len(), 102);
        for name in names {
            let somewhere = ["a.example", "www.ebay.com", "open.spotify.com"];
            assert!(somewhere.iter().any(|host| is_tracking(name.as_bytes(), host)), "{name}");
        }
    }
}
