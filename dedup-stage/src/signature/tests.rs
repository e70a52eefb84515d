//! The signature of this program on small pages: golden signatures, languages, lists, guards.

use ::url::Url;

use super::{DISTANCE, RECIPE, Signature, Sketch};
use crate::page::{Input, Reader};

fn read_at(url: &str, status: u16, html: &str) -> Option<Signature> {
    let url = Url::parse(url).unwrap();
    let input = Input { url: &url, status, content_type: Some("text/html; charset=utf-8"), body: html.as_bytes() };
    Reader::default().read(&input).signature
}

fn read(html: &str) -> Signature {
    read_at("http://a.example/dir/page", 200, html).expect("enough text")
}

fn duplicates(a: &Signature, b: &Signature) -> bool {
    (a.simhash ^ b.simhash).count_ones() <= DISTANCE && a.sketch.compare(&b.sketch).is_duplicate()
}

/// For some languages, sentences about two subjects.
const LANGUAGES: [(&str, [&str; 6], [&str; 6]); 6] = [
    (
        "en",
        [
            "The river rises in the mountains and flows through three lakes before it reaches the plain.",
            "In spring the melting snow floods the meadows, and the farmers wait until May before they sow.",
            "A stone bridge from the twelfth century leads to the old town on the eastern bank.",
            "Every summer thousands of visitors come by boat and stay in the small inns by the water.",
            "Trout and pike are caught here, and the smokehouses sell them at the market.",
            "The last ferry was taken out of service when the new road was opened.",
        ],
        [
            "Bread is made of flour, water, salt and yeast, and of nothing else.",
            "The dough rests overnight in a cool place, so that it tastes better and keeps longer.",
            "In the morning the baker forms loaves and lets them rise under a cloth.",
            "The oven must be very hot at first, and steam gives the crust its shine.",
            "After forty minutes one knocks on the bottom: if it sounds hollow, the loaf is done.",
            "Fresh bread should cool down before it is cut, however good it smells.",
        ],
    ),
    (
        "zh",
        [
            "这条河发源于高山，流经三个湖泊，最后到达平原。",
            "春天冰雪融化，河水淹没草地，农民要等到五月才播种。",
            "一座十二世纪的石桥通往东岸的老城，桥上可以看到整个山谷。",
            "每年夏天成千上万的游客坐船来到这里，住在水边的小旅馆。",
            "当地人捕捞鳟鱼和梭子鱼，熏制以后在市场上出售。",
            "新公路开通以后，最后一班渡船停止了服务。",
        ],
        [
            "面包只用面粉、清水、食盐和酵母制成，不加别的东西。",
            "面团在阴凉的地方静置一夜，这样味道更好，也保存得更久。",
            "早晨面包师把面团做成圆形，盖上布让它发酵。",
            "烤箱开始的时候必须很热，蒸汽使外皮发亮。",
            "四十分钟以后敲一敲底部，声音空洞就说明烤好了。",
            "新鲜的面包应该放凉再切，不管它闻起来多么香。",
        ],
    ),
    (
        "ja",
        [
            "この川は山々に源を発し、三つの湖を通って平野に流れ込みます。",
            "春になると雪解け水が牧草地にあふれ、農家は五月まで種まきを待ちます。",
            "十二世紀に造られた石の橋が東岸の古い町へと続いています。",
            "毎年夏には何千人もの観光客が船で訪れ、水辺の小さな宿に泊まります。",
            "ここではマスやカワカマスが獲れ、燻製にして市場で売られています。",
            "新しい道路が開通したとき、最後の渡し船は運航を終えました。",
        ],
        [
            "パンは小麦粉と水と塩と酵母だけで作られ、ほかには何も入れません。",
            "生地は涼しい場所で一晩寝かせると、味がよくなり長持ちします。",
            "朝になるとパン職人は生地を丸め、布をかけて発酵させます。",
            "窯は最初とても熱くなければならず、蒸気が皮につやを与えます。",
            "四十分後に底をたたいて、うつろな音がすれば焼き上がりです。",
            "焼きたてのパンはどんなによい香りでも、冷ましてから切るべきです。",
        ],
    ),
    (
        "th",
        [
            "แม่น้ำสายนี้มีต้นกำเนิดในภูเขาและไหลผ่านทะเลสาบสามแห่งก่อนถึงที่ราบ",
            "ในฤดูใบไม้ผลิหิมะละลายท่วมทุ่งหญ้าและชาวนารอจนถึงเดือนพฤษภาคมก่อนหว่านเมล็ด",
            "สะพานหินจากศตวรรษที่สิบสองทอดไปยังเมืองเก่าบนฝั่งตะวันออก",
            "ทุกฤดูร้อนนักท่องเที่ยวหลายพันคนมาทางเรือและพักในโรงแรมเล็กริมน้ำ",
            "ที่นี่มีการจับปลาเทราต์และนำไปรมควันขายที่ตลาด",
            "เรือข้ามฟากลำสุดท้ายเลิกให้บริการเมื่อถนนสายใหม่เปิดใช้",
        ],
        [
            "ขนมปังทำจากแป้ง น้ำ เกลือ และยีสต์ โดยไม่ใส่อย่างอื่นเลย",
            "แป้งที่นวดแล้วพักไว้ข้ามคืนในที่เย็นเพื่อให้รสชาติดีและเก็บได้นาน",
            "ตอนเช้าคนทำขนมปังปั้นเป็นก้อนแล้วคลุมผ้าให้ขึ้นฟู",
            "เตาอบต้องร้อนมากในตอนแรกและไอน้ำทำให้เปลือกเป็นมันเงา",
            "หลังจากสี่สิบนาทีให้เคาะด้านล่าง ถ้าเสียงกลวงแสดงว่าสุกแล้ว",
            "ขนมปังสดควรปล่อยให้เย็นก่อนตัดไม่ว่าจะหอมเพียงใด",
        ],
    ),
    (
        "ar",
        [
            "ينبع النهر من الجبال ويمر بثلاث بحيرات قبل أن يصل إلى السهل الواسع.",
            "في الربيع تغمر مياه الثلوج الذائبة المروج وينتظر الفلاحون حتى شهر مايو قبل البذر.",
            "يقود جسر حجري من القرن الثاني عشر إلى المدينة القديمة على الضفة الشرقية.",
            "يأتي آلاف الزوار كل صيف بالقوارب ويقيمون في النزل الصغيرة قرب الماء.",
            "تصاد هنا أسماك السلمون المرقط وتباع مدخنة في السوق كل أسبوع.",
            "توقفت آخر عبارة عن العمل عندما افتتح الطريق الجديد.",
        ],
        [
            "يصنع الخبز من الدقيق والماء والملح والخميرة ولا شيء غير ذلك.",
            "يرتاح العجين طوال الليل في مكان بارد لكي يطيب طعمه ويدوم أطول.",
            "في الصباح يشكل الخباز الأرغفة ويتركها تختمر تحت قطعة قماش.",
            "يجب أن يكون الفرن حارا جدا في البداية والبخار يعطي القشرة لمعانها.",
            "بعد أربعين دقيقة يطرق المرء على القاع فإذا كان الصوت أجوف فقد نضج الرغيف.",
            "ينبغي أن يبرد الخبز الطازج قبل تقطيعه مهما كانت رائحته طيبة.",
        ],
    ),
    (
        "hi",
        [
            "यह नदी पहाड़ों से निकलती है और मैदान तक पहुँचने से पहले तीन झीलों से होकर बहती है।",
            "वसंत में पिघलती बर्फ घास के मैदानों में भर जाती है और किसान मई तक बुवाई की प्रतीक्षा करते हैं।",
            "बारहवीं शताब्दी का एक पत्थर का पुल पूर्वी तट पर पुराने शहर की ओर जाता है।",
            "हर गर्मी में हजारों पर्यटक नाव से आते हैं और पानी के किनारे छोटी सरायों में ठहरते हैं।",
            "यहाँ मछलियाँ पकड़ी जाती हैं और धुएँ में पकाकर बाजार में बेची जाती हैं।",
            "नई सड़क खुलने पर आखिरी नौका सेवा बंद कर दी गई।",
        ],
        [
            "रोटी केवल आटे, पानी, नमक और खमीर से बनती है और किसी चीज से नहीं।",
            "गूँथा हुआ आटा रात भर ठंडी जगह पर रखा जाता है ताकि स्वाद बढ़े और वह अधिक टिके।",
            "सुबह नानबाई लोइयाँ बनाकर उन्हें कपड़े के नीचे फूलने देता है।",
            "तंदूर शुरू में बहुत गरम होना चाहिए और भाप से परत चमकती है।",
            "चालीस मिनट बाद नीचे से ठोककर देखते हैं, खोखली आवाज आए तो रोटी तैयार है।",
            "ताजी रोटी को काटने से पहले ठंडा होने देना चाहिए, चाहे उसकी महक कितनी भी अच्छी हो।",
        ],
    ),
];

fn article(language: &str, chrome: &str, sentences: &[&str]) -> String {
    format!(
        "<!doctype html><html lang={language}><title>t</title><body><nav>{chrome}</nav><article><p>{}</p><p>{}</p></article>",
        sentences[..3].join(" "),
        sentences[3..].join(" ")
    )
}

#[test]
fn languages_are_alike() {
    for (language, river, bread) in LANGUAGES {
        let menu: String = river.iter().chain(&bread).map(|s| format!("<a href=/>{s}</a>")).collect();
        let original = read(&article(language, &menu, &river));
        let noisy = article(language, "<a href=/other>1</a>", &river)
            .replace("</article>", "</article><div class=ad>2026</div><p>№ 4711 — 2026</p>");
        assert!(duplicates(&original, &read(&noisy)), "{language}: noise");
        assert!(!duplicates(&original, &read(&article(language, &menu, &bread))), "{language}: another subject");
        let mut edited = river;
        (edited[1], edited[4]) = (bread[1], bread[4]);
        let edited = read(&article(language, &menu, &edited));
        let look = original.sketch.compare(&edited.sketch);
        assert!(!look.is_duplicate() && look.resemblance > 0.2, "{language}: a third is new, {look:?}");
    }
}

#[test]
fn pages_of_a_list_are_no_duplicates() {
    let list = |page: u32| {
        let rows: String = (0..12)
            .map(|i| format!("<li><a href=\"/offer/{}\">Details of this offer</a></li>", page * 100 + i))
            .collect();
        let text = "All offers of our shop, sorted by price, with delivery in three days. Choose one to see pictures, \
                    the opinions of other customers and what it costs to have it sent to you.";
        let pager = format!("<p><a href=\"/list?page={}\">next page</a></p>", page + 1);
        read_at("http://shop.example/list", 200, &format!("<body><h1>Offers</h1><p>{text}</p><ul>{rows}</ul>{pager}"))
    };
    let (first, second) = (list(1).unwrap(), list(2).unwrap());
    assert_eq!((first.simhash ^ second.simhash).count_ones(), 0, "the text is the same");
    assert!(!duplicates(&first, &second));
    assert!(duplicates(&first, &list(1).unwrap()));
}

#[test]
fn little_text_and_errors_have_no_signature() {
    assert_eq!(read_at("http://a.example/", 200, "<body><h1>Login</h1><p>Please log in to see this page."), None);
    assert_eq!(read_at("http://a.example/", 200, ""), None);
    assert_eq!(read_at("http://a.example/", 200, &format!("<p>{}", "again ".repeat(300))), None);
    assert_eq!(read_at("http://a.example/", 200, &format!("<p>{}", "17 ".repeat(300))), None);
    let (_, river, _) = LANGUAGES[0];
    let page = article("en", "", &river);
    assert!(read_at("http://a.example/", 200, &page).is_some());
    assert_eq!(read_at("http://a.example/", 404, &page), None);
}

/// A change that changes these values changes every stored signature. It must give the recipe another name.
#[test]
fn signatures_are_golden() {
    let golden: Vec<String> = LANGUAGES
        .iter()
        .map(|(language, river, _)| {
            let page = article(language, "<a href=/>x</a>", river).replace("</p><p>", " <a href=q?a=1>7</a></p><p>");
            let Signature { simhash, sketch } = read(&page);
            let folded = xxhash_rust::xxh3::xxh3_64(&sketch.to_bytes());
            format!("{language} {simhash:016x} {folded:016x} {} {}", sketch.words(), sketch.links())
        })
        .collect();
    insta::assert_snapshot!(format!("{RECIPE}\n{}", golden.join("\n")), @r"
    content-words-3
    en eee34bff01c785de e7b1e8f6c8085afb 95 1
    zh 785e928fb0f67a9c cb6d0619ea292a99 119 1
    ja 5c11f4d86ea42299 5c3d465c5be23a3f 165 1
    th 5cf97e720bcf7373 0c72c2ed18360171 360 1
    ar 1d8864af7179c3cc 25af26f195f4a39c 73 1
    hi 513f5f67fc4ace43 93a1c4c84265b26b 98 1
    ");
    assert_eq!(Sketch::BYTES, 64);
}
