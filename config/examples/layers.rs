//! Applies one setting, and prints the result, or the error for an unknown key or a bad value: `cargo run -p
//! dedup-stage-config --example layers -- KEY VALUE`

use config::Layers;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [key, value] = arguments.as_slice() else {
        return println!("say a key and a value, such as: dedup.distance 3");
    };
    match Layers::new().set(key, value.as_str()).and_then(Layers::finish) {
        Ok(settings) => println!(
            "Hamming distance {}, links of duplicates: {:?}",
            settings.dedup.distance, settings.dedup.on_duplicate
        ),
        Err(error) => println!("{error}"),
    }
}
