//! The media of a page: which elements and attributes count, and what does not change a hash.

use super::{read, read_at};
use crate::page::Reader;
use crate::page::media::MediumKind;

/// The media of a page with this body.
fn media(body: &str) -> Vec<u64> {
    read(body).media
}

/// The media of a page that shows these images.
fn images(addresses: &[&str]) -> Vec<u64> {
    media(&addresses.iter().map(|address| format!("<img src=\"{address}\">")).collect::<String>())
}

#[test]
fn every_way_to_show_a_file_counts() {
    let photo = images(&["photo.jpg"]);
    assert_eq!(photo.len(), 1);
    let large = format!("data:image/png;base64,{}", "iVBORw0KGgo".repeat(40));
    for body in [
        "<img src=' photo.jpg '>",
        "<IMG SRC=photo.jpg WIDTH=640 height='480px'>",
        "<img src='spacer.gif' data-src=photo.jpg>",
        "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' data-original='photo.jpg'>",
        "<img srcset='photo.jpg 1x, photo-2x.jpg 2x'>",
        "<img data-srcset='photo.jpg 300w'>",
        "<img src=/img/blank.gif srcset='photo.jpg 300w'>",
        "<img src=/img/shared.svg data-srcset='photo.jpg 300w'>",
        "<img src=photo.jpg srcset='photo-small.jpg 300w'>",
        "<img src=/img/shared.svg data-lazy=photo.jpg>",
        "<div style='background-image: url(\"photo.jpg\")'></div>",
        "<section style='color:red;background:#fff url(photo.jpg) no-repeat'></section>",
        "<span style=background-image:url(photo.jpg)></span>",
        "<div data-bg=photo.jpg></div>",
        "<div data-bg=url(photo.jpg)></div>",
        "<a href=large style='background-image:url(photo.jpg)'></a>",
        "<a href='http://cdn.example.net/large/photo.jpg'><img src=photo.jpg></a>",
        "<picture><source srcset='photo.webp' type='image/webp'><img src=photo.jpg></picture>",
        "<picture><source srcset='photo.jpg 800w, photo-small.jpg'><img></picture>",
        "<picture><source srcset=photo.jpg><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='></picture>",
        "<picture><source data-srcset=photo.jpg><source srcset=small.jpg><img src=blank.gif></picture>",
        "<img src=blank.gif data-cfsrc=photo.jpg>",
        "<img data-echo=photo.jpg src=blank.gif>",
        "<img data-lazyload=photo.jpg>",
        "<noscript><img src=photo.jpg></noscript>",
        "<video><source src=photo.jpg></video>",
        "<video poster=photo.jpg></video>",
        "<audio src=photo.jpg></audio>",
        "<embed src=photo.jpg>",
        "<iframe src='/embed/../dir/photo.jpg'></iframe>",
        "<amp-img src=photo.jpg width=300 height=200></amp-img>",
        "<amp-img srcset='photo.jpg 300w'><noscript><img src=photo.jpg></noscript></amp-img>",
        "<amp-video poster=photo.jpg><p>no video</p></amp-video>",
        "<svg><image href=photo.jpg /></svg>",
        "<svg><g><image xlink:href=photo.jpg></image></g></svg>",
        "<image src=photo.jpg>",
        "<object data=photo.jpg><embed src=photo.jpg></object>",
        "<base href='/elsewhere/dir/'><img src=photo.jpg>",
        "<img src='http://static.example.org/dir/photo.jpg'>",
        "<a href='http://www.example.org/large'><img src=photo.jpg></a>",
        "<a href='http://shop.example.net/click'>shop</a> <img src=photo.jpg>",
        "<img src='/_next/image?url=%2Fdir%2Fphoto.jpg&w=640&q=75'>",
    ] {
        assert_eq!(media(body), photo, "{body}");
    }
    assert_eq!(media(&format!("<img src='{large}'>")).len(), 1);
    assert_ne!(media(&format!("<img src='{large}'>")), media(&format!("<img src='{large}A'>")));
}

#[test]
fn what_nobody_sees_or_others_own_does_not_count() {
    for body in [
        "<img>",
        "<img src=''>",
        "<img src='/'>",
        "<img src=counter.gif width=1 height=1>",
        "<img src=counter.gif height='2px'>",
        "<img src=photo.jpg hidden>",
        "<img src=photo.jpg style='display: none'>",
        "<div hidden><video src=film.mp4></video></div>",
        "<template><img src=photo.jpg></template>",
        "<script>document.write('<img src=photo.jpg>')</script>",
        "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
        "<img src='http://ads.example.net/banner.gif'>",
        "<img src='ftp://example.org/photo.jpg'>",
        "<div style='background-image:url()'></div>",
        "<div style='background-image:url(data:image/gif;base64,R0lGODlhAQABAAAAACw=)'></div>",
        "<div style='cursor:url(hand.png)'></div>",
        "<div class=ads style='background-image:url(photo.jpg)'></div>",
        "<div style='display:none;background-image:url(photo.jpg)'></div>",
        "<div style='background-image:url(http://ads.example.net/7.gif)'></div>",
        "<a rel='nofollow sponsored' href=/out/7><img src=photo.jpg></a>",
        "<a href='http://shop.example.net/click'><img src='http://cdn.example.net/7.jpg'></a>",
        "<img src='http://pixel.example.net/p?id=7'>",
        "<img src='//192.0.2.1/photo.jpg'>",
        "<nav><img src=logo.png></nav>",
        "<div class=sidebar><img src=teaser.jpg></div>",
        "<iframe src='http://ads.example.net/embed/7'></iframe>",
        "<iframe src='http://other.example.net/frame/7'></iframe>",
        "<svg><image width=1 href=photo.jpg></image></svg>",
        "<a href=photo.jpg>a photo</a>",
        "<a href='http://shop.example.net/click'><img src=banner.jpg></a>",
    ] {
        assert!(media(body).is_empty(), "{body}");
    }
    assert_eq!(
        read_at("http://192.0.2.1/a/b", "<img src='//192.0.2.1/c.jpg'><img src='//192.0.2.2/c.jpg'>").media.len(),
        1
    );
}

#[test]
fn mirrors_folders_and_parameters_change_nothing() {
    let html =
        "<img src='img/one.jpg'><img src='/img/two.jpg?v=1'><img src='../img/three.jpg#top'><img src='here.jpg'>";
    let here = read_at("http://example.org/gallery/page.html", html).media;
    assert_eq!(here.len(), 4);
    let elsewhere = "<img src='here.jpg?cache=77'><img src='img/one.jpg?r=0.123'><img src='img/one.jpg'>\
                     <img src='/copy/img/two.jpg'><img src='../img/three.jpg'>";
    assert_eq!(read_at("https://mirror.example.net/copy/gallery/page.html?print=1", elsewhere).media, here);
}

#[test]
fn other_files_have_other_hashes() {
    let mut all: Vec<u64> = (0..200).flat_map(|i| images(&[&format!("/photos/{i}.jpg")])).collect();
    all.extend((0..200).flat_map(|i| images(&[&format!("/photo/{i}/large.jpg")])));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 400);
}

#[test]
fn media_of_another_site_count_apart_and_a_mirror_may_show_those_of_its_original() {
    let kinds = |media: &[u64]| media.iter().map(|hash| MediumKind::of(*hash as u32)).collect::<Vec<_>>();
    let there = read_at("http://original.example.net/album/7", "<img src=/photos/deep/7.jpg>").media;
    assert_eq!(kinds(&there), [MediumKind::Own]);
    let shown = images(&["http://original.example.net/photos/deep/7.jpg"]);
    let mut both = kinds(&shown);
    both.sort_unstable_by_key(|kind| *kind as u32);
    assert_eq!(both, [MediumKind::Away, MediumKind::AwayThere]);
    let plain = |hash: &u64| hash & !u64::from(MediumKind::BITS);
    assert!(shown.iter().any(|hash| plain(hash) == plain(&there[0])));
}

#[test]
fn media_are_a_bounded_set() {
    let page = |count: usize| {
        let images: String = (0..count).map(|i| format!("<img src=/p/{i}.jpg><img src=/p/{i}.jpg>")).collect();
        read(&images)
    };
    let few = page(7);
    assert_eq!((few.media.len(), few.media_cut), (7, 0));
    assert!(few.media.is_sorted());
    let many = page(Reader::MAX_MEDIA + 9);
    assert_eq!((many.media.len(), many.media_cut), (Reader::MAX_MEDIA, 9));
    assert_eq!(many.media, page(Reader::MAX_MEDIA).media, "the first are kept");
}
