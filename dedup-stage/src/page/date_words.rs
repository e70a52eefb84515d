//! Names of months and days, and their usual short forms, in the languages of most pages. The pages of an endless
//! calendar differ in these names, and in nothing else.

/// The names, separated by blanks. (They are a page's filling, as numbers are.)
pub const NAMES: [&str; 12] = [
    // English
    "january february march april may june july august september october november december jan feb mar apr jun jul aug \
     sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri \
     sat sun mo tu we th fr sa su today tomorrow yesterday",
    // German
    "januar jänner februar märz mai juni juli oktober dezember jän mär mrz okt dez montag dienstag mittwoch donnerstag \
     freitag samstag sonnabend sonntag di mi do so heute",
    // French
    "janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr avr juil déc lundi mardi \
     mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim",
    // Spanish
    "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene abr ago dic \
     lunes martes miércoles jueves viernes sábado domingo mié jue vie sáb",
    // Italian
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott lunedì martedì \
     mercoledì giovedì venerdì sabato domenica gio",
    // Portuguese
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev segunda terça quarta quinta sexta \
     feira seg ter qua qui sex",
    // Dutch
    "januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    // Polish
    "styczeń stycznia luty lutego marzec marca kwiecień kwietnia maj maja czerwiec czerwca lipiec lipca sierpień sierpnia \
     wrzesień września październik października listopad listopada grudzień grudnia poniedziałek wtorek środa czwartek \
     piątek sobota niedziela",
    // Russian
    "январь января февраль февраля март марта апрель апреля май мая июнь июня июль июля август августа сентябрь сентября \
     октябрь октября ноябрь ноября декабрь декабря понедельник вторник среда четверг пятница суббота воскресенье",
    // Swedish, Danish and Norwegian
    "mars maj juni juli augusti augustus marts måndag tisdag onsdag torsdag fredag lördag söndag mandag lørdag søndag",
    // Turkish
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık pazartesi salı çarşamba perşembe cuma \
     cumartesi pazar",
    // Indonesian
    "januari februari maret mei juni juli agustus oktober desember senin selasa rabu kamis jumat sabtu minggu",
];
