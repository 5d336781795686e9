// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.

/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ["Emoji suchen","Hautton","Kein Emoji gefunden.","helle Hautfarbe","mittelhelle Hautfarbe","mittlere Hautfarbe","mitteldunkle Hautfarbe","dunkle Hautfarbe"];

/** A line for each emoji of `EMOJI_GROUPS`: its name, and other words to find it, behind a `|` each. */
export const EMOJI_NAMES = `
grinsendes Gesicht|lol|lustig
grinsendes Gesicht mit großen Augen|lol|lustig
grinsendes Gesicht mit lachenden Augen|lol|lustig
strahlendes Gesicht mit lachenden Augen|Zähne|lustig
Grinsegesicht mit zugekniffenen Augen|offener Mund|geschlossene Augen
grinsendes Gesicht mit Schweißtropfen|lustig|schwitzen
sich vor Lachen auf dem Boden wälzen|Gesicht
Gesicht mit Freudentränen|lachen
leicht lächelndes Gesicht
umgekehrtes Gesicht|auf dem Kopf stehen
schmelzendes Gesicht|flüssig|auflösen
zwinkerndes Gesicht
lächelndes Gesicht mit lachenden Augen|Freude|erröten
lächelndes Gesicht mit Heiligenschein
lächelndes Gesicht mit Herzen|verliebt|anhimmeln
lächelndes Gesicht mit herzförmigen Augen|verliebt
überwältigt|Augen|Stern
Kuss zuwerfendes Gesicht
küssendes Gesicht|Kuss
lächelndes Gesicht|fröhlich
küssendes Gesicht mit geschlossenen Augen|rote Wangen
küssendes Gesicht mit lächelnden Augen|Kuss|lächelnde Augen
lachendes Gesicht mit Träne|stolz|berührt
sich die Lippen leckendes Gesicht|lecker|leckeres Essen
Gesicht mit herausgestreckter Zunge|herausgestreckte Zunge
zwinkerndes Gesicht mit herausgestreckter Zunge|herausgestreckte Zunge
irres Gesicht|Auge|groß
Gesicht mit herausgestreckter Zunge und zusammengekniffenen Augen|herausgestreckte Zunge
Gesicht mit Dollarzeichen|Geld|Zunge
Gesicht mit umarmenden Händen|Umarmung
verlegen kicherndes Gesicht|Huch
Gesicht mit offenen Augen und Hand über dem Mund|Furcht|Erstaunen
Gesicht mit durch die Finger linsendem Auge|spähen|gebannt
ermahnendes Gesicht|pst|leise
nachdenkendes Gesicht|nachdenklich
grüßendes Gesicht|ok|jawohl
Gesicht mit Reißverschlussmund
Gesicht mit hochgezogenen Augenbrauen|skeptisch|argwöhnisch
neutrales Gesicht|kein Kommentar
ausdrucksloses Gesicht|kein Kommentar
Gesicht ohne Mund|kein Mund|sprachlos
Gesicht mit gestrichelter Linie|depressiv|unsichtbar
süffisant lächelndes Gesicht
verstimmtes Gesicht|unglücklich
Augen verdrehendes Gesicht
Grimassen schneidendes Gesicht|Zähne
lügendes Gesicht|Pinocchio-Nase
erleichtertes Gesicht|geschlossene Augen
nachdenkliches Gesicht
schläfriges Gesicht|müde
sabberndes Gesicht
schlafendes Gesicht|zzz|schnarchen
Gesicht mit Atemschutzmaske|Arzt|Krankheit
Gesicht mit Fieberthermometer|krank
Gesicht mit Kopfverband|Schmerzen|Verletzung
würgendes Gesicht|Übelkeit|Erbrechen
kotzendes Gesicht|krank
niesendes Gesicht
schwitzendes Gesicht|heiß|Fieber
frierendes Gesicht|kalt|Eiszapfen
schwindeliges Gesicht|betrunken|beschwipst
benommenes Gesicht
explodierender Kopf|entsetzt|geschockt
Gesicht mit Cowboyhut
Partygesicht|Feiern
verkleidet|inkognito|Verkleidung
lächelndes Gesicht mit Sonnenbrille|cool
Strebergesicht|Nerd
Gesicht mit Monokel
verwundertes Gesicht
Gesicht mit schrägem Mund
besorgtes Gesicht
betrübtes Gesicht
düsteres Gesicht
Gesicht mit offenem Mund
verdutztes Gesicht
erstauntes Gesicht
errötetes Gesicht mit großen Augen
bettelndes Gesicht
Gesicht, das Tränen zurückhält
entsetztes Gesicht
qualvolles Gesicht
ängstliches Gesicht
besorgtes Gesicht mit Schweißtropfen
trauriges aber erleichtertes Gesicht
weinendes Gesicht
heulendes Gesicht
vor Angst schreiendes Gesicht
verwirrtes Gesicht
entschlossenes Gesicht
enttäuschtes Gesicht
bedrücktes Gesicht mit Schweiß
erschöpftes Gesicht
müdes Gesicht
gähnendes Gesicht
schnaubendes Gesicht
schmollendes Gesicht
verärgertes Gesicht
Gesicht mit Symbolen über dem Mund
grinsendes Gesicht mit Hörnern
wütendes Gesicht mit Hörnern
Totenkopf
Totenkopf mit gekreuzten Knochen
Kothaufen
Clown-Gesicht
Ungeheuer
Kobold
Gespenst
Außerirdischer
Computerspiel-Monster
Roboter
grinsende Katze
grinsende Katze mit lachenden Augen
Katze mit Freudentränen
lachende Katze mit Herzen als Augen
verwegen lächelnde Katze
küssende Katze
erschöpfte Katze
weinende Katze
schmollende Katze
sich die Augen zuhaltendes Affengesicht
sich die Ohren zuhaltendes Affengesicht
sich den Mund zuhaltendes Affengesicht
Liebesbrief
Herz mit Pfeil
Herz mit Schleife
funkelndes Herz
wachsendes Herz
schlagendes Herz
kreisende Herzen
zwei Herzen
Herzdekoration
Herz als Ausrufezeichen
gebrochenes Herz
rotes Herz
oranges Herz
gelbes Herz
grünes Herz
blaues Herz
lila Herz
braunes Herz
schwarzes Herz
weißes Herz
Kussabdruck
100 Punkte
Ärger
Zusammenstoß
schwindlig
Schweißtropfen
Staubwolke
Loch
Sprechblase mit drei Punkten
Auge in Sprechblase
Sprechblase links
Sprechblase für wütende Aussage rechts
Gedankenblase
Schlafen
winkende Hand
erhobene Hand von hinten
Hand mit gespreizten Fingern
erhobene Hand
vulkanischer Gruß
nach rechts weisende Hand
nach links weisende Hand
Hand mit Handfläche nach unten
Hand mit Handfläche nach oben
OK-Zeichen
zusammengedrückte Finger
Wenig-Geste
Victory-Geste
Hand mit gekreuzten Fingern
Hand mit gekreuztem Zeigefinger und Daumen
Ich-liebe-dich-Geste
Teufelsgruß
Ruf-mich-an-Handzeichen
nach links weisender Zeigefinger
nach rechts weisender Zeigefinger
nach oben weisender Zeigefinger von hinten
Mittelfinger
nach unten weisender Zeigefinger
nach oben weisender Zeigefinger von vorne
auf Betrachter zeigender Zeigefinger
Daumen hoch
Daumen runter
erhobene Faust
geballte Faust
Faust nach links
Faust nach rechts
klatschende Hände
zwei erhobene Handflächen
offene Hände
Handflächen nach oben
Handschlag
zusammengelegte Handflächen
schreibende Hand
Nagellack
Selfie
angespannter Bizeps
Armprothese
Beinprothese
Bein
Fuß
Ohr
Ohr mit Hörgerät
Nase
Gehirn
Herz (Organ)
Lunge
Zahn
Knochen
Augen
Auge
Zunge
Mund
Auf Lippe beißen
Baby
Kind
Junge
Mädchen
Person
Person: blondes Haar
Mann
Person: Bart
Frau
Person: rotes Haar
Person: lockiges Haar
Person: weißes Haar
Person: Glatze
ältere Person
älterer Mann
ältere Frau
missmutige Person
schmollende Person
Person mit überkreuzten Armen
Person mit Händen auf dem Kopf
Infoschalter-Mitarbeiter(in)
Person mit erhobenem Arm
gehörlose Person
sich verbeugende Person
sich an den Kopf fassende Person
schulterzuckende Person
Arzt/Ärztin
Student(in)
Lehrer(in)
Richter(in)
Bauer/Bäuerin
Koch/Köchin
Mechaniker(in)
Fabrikarbeiter(in)
Büroangestellte(r)
Wissenschaftler(in)
IT-Experte/IT-Expertin
Sänger(in)
Künstler(in)
Pilot(in)
Astronaut(in)
Feuerwehrmann/-frau
Polizist(in)
Detektiv(in)
Wache
Ninja
Bauarbeiter(in)
Prinz
Prinzessin
Person mit Turban
Mann mit chinesischem Hut
Frau mit Kopftuch
Person im Smoking
Person mit Schleier
schwangere Frau
schwangerer Mann
schwangere Person
Stillen
stillende Person
Person, die eine Kopfmassage bekommt
Person beim Haareschneiden
Fußgänger(in)
stehende Person
kniende Person
Person mit Gehstock
Person in motorisiertem Rollstuhl
Person in manuellem Rollstuhl
laufende Person
tanzende Frau
tanzender Mann
schwebender Mann im Anzug
Personen mit Hasenohren
Person in Dampfsauna
Bergsteiger(in)
Person im Lotossitz
badende Person
im Bett liegende Person
Affengesicht
Affe
Gorilla
Orang-Utan
Hundegesicht
Hund
Blindenhund
Assistenzhund
Pudel
Wolf
Fuchs
Waschbär
Katzengesicht
Katze
schwarze Katze
Löwe
Tigergesicht
Tiger
Leopard
Pferdegesicht
Pferd
Einhorn
Zebra
Hirsch
Bison
Kuhgesicht
Ochse
Wasserbüffel
Kuh
Schweinegesicht
Schwein
Wildschwein
Schweinerüssel
Widder
Schaf
Ziege
Dromedar
Kamel
Lama
Giraffe
Elefant
Mammut
Nashorn
Nilpferd
Mäusegesicht
Maus
Ratte
Hamster
Hasengesicht
Hase
Streifenhörnchen
Biber
Igel
Fledermaus
Bär
Eisbär
Koala
Panda
Faultier
Otter
Stinktier
Känguru
Dachs
Tatzenabdrücke
Truthahn
Huhn
Hahn
schlüpfendes Küken
Küken
Küken von vorne
Vogel
Pinguin
Taube
Adler
Ente
Schwan
Eule
Dodo
Feder
Flamingo
Pfau
Papagei
Frosch
Krokodil
Schildkröte
Eidechse
Schlange
Drachengesicht
Drache
Sauropode
T-Rex
blasender Wal
Wal
Delfin
Seehund
Fisch
Tropenfisch
Kugelfisch
Hai
Oktopus
Schneckenhaus
Koralle
Schnecke
Schmetterling
Raupe
Ameise
Biene
Käfer
Marienkäfer
Grille
Kakerlake
Spinne
Spinnennetz
Skorpion
Mücke
Fliege
Wurm
Mikrobe
Blumenstrauß
Kirschblüte
Blumenstempel
Lotusblüte
Rosette
Rose
welke Blume
Hibiskus
Sonnenblume
gelbe Blüte
Tulpe
Spross
Topfpflanze
Nadelbaum
Laubbaum
Palme
Kaktus
Reisähre
Kräuter
Kleeblatt
Glücksklee
Ahornblatt
Laub
Blätter im Wind
leeres Nest
Nest mit Eiern
Fliegenpilz
Trauben
Honigmelone
Wassermelone
Mandarine
Zitrone
Banane
Ananas
Mango
roter Apfel
grüner Apfel
Birne
Pfirsich
Kirschen
Erdbeere
Blaubeeren
Kiwi
Tomate
Olive
Kokosnuss
Avocado
Aubergine
Kartoffel
Karotte
Maiskolben
Peperoni
Paprika
Gurke
Blattgemüse
Brokkoli
Knoblauch
Zwiebel
Erdnuss
Bohnen
Kastanie
Brot
Croissant
Baguette
Fladenbrot
Brezel
Bagel
Pfannkuchen
Waffel
Käsestück
Fleischhachse
Hähnchenschenkel
Fleischstück
Bacon
Hamburger
Pommes frites
Pizza
Hotdog
Sandwich
Taco
Burrito
Tamale
Döner
Falafel
Ei
Spiegelei in Bratpfanne
Pfannengericht
Topf mit Essen
Fondue
Schüssel mit Löffel
Salat
Popcorn
Butter
Salz
Konserve
Bento-Box
Reiscracker
Reisbällchen
Reis in Schüssel
Reis mit Curry
Schüssel und Essstäbchen
Spaghetti
geröstete Süßkartoffel
Oden
Sushi
frittierte Garnele
Fischfrikadelle
Mondkuchen
Dango
Teigtasche
Glückskeks
Takeaway-Schachtel
Krebs
Hummer
Garnele
Tintenfisch
Auster
Softeis
Wassereis
Eiscreme
Donut
Keks
Geburtstagskuchen
Torte
Cupcake
Kuchen
Schokoladentafel
Bonbon
Lutscher
Pudding
Honigtopf
Babyflasche
Glas Milch
Heißgetränk
Teekanne
Teetasse ohne Henkel
Sake-Flasche mit Tasse
Flasche mit knallendem Korken
Weinglas
Cocktailglas
Cocktail
Bierkrug
Bierkrüge
Sektgläser
Trinkglas
Flüssigkeit ausgießen
Becher mit Strohhalm
Bubble Tea
Trinkpäckchen
Mate-Tee
Eiswürfel
Essstäbchen
Teller mit Messer und Gabel
Messer und Gabel
Löffel
Küchenmesser
Amphore
Globus mit Europa und Afrika
Globus mit Amerika
Globus mit Asien und Australien
Globus mit Meridianen
Weltkarte
Umriss von Japan
Kompass
schneebedeckter Berg
Berg
Vulkan
Fuji
Camping
Strand mit Sonnenschirm
Wüste
einsame Insel
Nationalpark
Springbrunnen
Zelt
neblig
Sternenhimmel
Skyline
Sonnenaufgang über Bergen
Sonnenaufgang über dem Meer
Abendstimmung in der Stadt
Sonnenuntergang in der Stadt
Brücke vor Nachthimmel
heiße Quellen
Karussellpferd
Spielplatzrutsche
Riesenrad
Achterbahn
Barbershop-Säule
Zirkuszelt
Dampflokomotive
Eisenbahnwagen
Hochgeschwindigkeitszug mit spitzer Nase
Hochgeschwindigkeitszug
Zug
U-Bahn
S-Bahn
Bahnhof
Straßenbahn
Einschienenbahn
Bergbahn
Straßenbahnwagen
Bus
Bus von vorne
Oberleitungsbus
Kleinbus
Krankenwagen
Feuerwehrauto
Polizeiwagen
Polizeiwagen von vorne
Taxi
Taxi von vorne
Auto
Auto von vorne
Wohnmobil
Pick-up
Lieferwagen
Sattelzug
Traktor
Rennauto
Motorrad
Motorroller
manueller Rollstuhl
elektrischer Rollstuhl
Autorikscha
Fahrrad
Tretroller
Skateboard
Rollschuh
Bushaltestelle
Autobahn
Bahngleis
Ölfass
Tanksäule
Autorad
Polizeilicht
horizontale Verkehrsampel
vertikale Verkehrsampel
Stoppschild
Baustellenabsperrung
Anker
Rettungsring
Segelboot
Kanu
Schnellboot
Passagierschiff
Fähre
Motorboot
Schiff
Flugzeug
kleines Flugzeug
Abflug
Landung eines Flugzeugs
Fallschirm
Sitzplatz
Hubschrauber
Schwebebahn
Bergschwebebahn
Bergseilbahn
Satellit
Rakete
fliegende Untertasse
Rezeptionsklingel
Gepäck
Sanduhr
laufende Sanduhr
Armbanduhr
Wecker
Stoppuhr
Zeitschaltuhr
Kaminuhr
Neumond
erstes Mondviertel
zunehmender Halbmond
zweites Mondviertel
Vollmond
drittes Mondviertel
abnehmender Halbmond
letztes Mondviertel
Mondsichel
Neumond mit Gesicht
Mondsichel mit Gesicht links
Mondsichel mit Gesicht rechts
Thermometer
Sonne
Vollmond mit Gesicht
Sonne mit Gesicht
Ringplanet
weißer mittelgroßer Stern
funkelnder Stern
Sternschnuppe
Milchstraße
Wolke
Sonne hinter Wolke
Wolke mit Blitz und Regen
Sonne hinter kleiner Wolke
Sonne hinter großer Wolke
Sonne hinter Regenwolke
Wolke mit Regen
Wolke mit Schnee
Wolke mit Blitz
Wirbelsturm
Nebel
Wind
Wirbel
Regenbogen
geschlossener Regenschirm
Regenschirm
Regenschirm im Regen
aufgestellter Sonnenschirm
Hochspannung
Schneeflocke
Schneemann im Schnee
Schneemann ohne Schneeflocken
Komet
Feuer
Tropfen
Welle
Halloweenkürbis
Weihnachtsbaum
Feuerwerk
Wunderkerze
Feuerwerkskörper
funkelnde Sterne
Luftballon
Konfettibombe
Konfettiball
Tanabata-Baum
Piniendekoration
japanische Puppen
traditionelle japanische Windsäcke
japanisches Windspiel
traditionelles Mondfest
roter Umschlag
pinke Schleife
Geschenk
Gedenkschleife
Eintrittskarten
Ticket
Militärorden
Pokal
Sportmedaille
Goldmedaille
Silbermedaille
Bronzemedaille
Fußball
Baseball
Softball
Basketball
Volleyball
Football
Rugbyball
Tennisball
Frisbee
Bowling
Kricket
Feldhockey
Eishockey
Lacrosse
Tischtennis
Badminton
Boxhandschuh
Kampfsportanzug
Tor
Golffahne
Schlittschuh
Angel mit Fisch
Tauchmaske
Laufshirt
Ski
Schlitten
Curlingstein
Darts
Jo-Jo
Drachen
Wasserpistole
Billardkugel
Kristallkugel
Zauberstab
Gamepad
Joystick
Spielautomat
Spielwürfel
Puzzleteil
Teddybär
Piñata
Matroschka
Pik
Herz
Karo
Kreuz
Bauer Schach
Jokerkarte
Mahjong-Stein
japanische Blumenkarte
Masken
gerahmtes Bild
Mischpalette
Faden
Nähnadel
Wollknäuel
Knoten
Brille
Sonnenbrille
Schutzbrille
Laborkittel
Sicherheitsweste
Hemd mit Krawatte
T-Shirt
Jeans
Schal
Handschuhe
Mantel
Socken
Kleid
Kimono
Sari
einteiliger Badeanzug
Slip
Shorts
Bikini
Bluse
Geldbörse
Handtasche
Clutch
Einkaufstüten
Schulranzen
Zehensandale
Herrenschuh
Sportschuh
Wanderstiefel
flacher Schuh
Stöckelschuh
Damensandale
Ballettschuhe
Damenstiefel
Krone
Damenhut
Zylinder
Doktorhut
Baseballmütze
Militärhelm
Rettungshelm
Gebetskette
Lippenstift
Ring
Edelstein
Notenschlüssel
Musiknote
Musiknoten
Studiomikrofon
Schieberegler
Drehregler
Mikrofon
Kopfhörer
Radio
Saxofon
Akkordeon
Gitarre
Klaviatur
Trompete
Geige
Banjo
Trommel
afrikanische Trommel
Mobiltelefon
Mobiltelefon mit Pfeil
Telefon
Telefonhörer
Pager
Faxgerät
Batterie
schwache Batterie
Netzstecker
Laptop
Desktopcomputer
Drucker
Tastatur
Computermaus
Trackball
Minidisc
Diskette
CD
DVD
Abakus
Filmkamera
Filmstreifen
Filmprojektor
Filmklappe
Fernseher
Fotoapparat
Fotoapparat mit Blitz
Videokamera
Videokassette
Lupe nach links
Lupe nach rechts
Kerze
Glühbirne
Taschenlampe
rote Papierlaterne
Öllampe
Notizbuch mit dekorativem Einband
geschlossenes Buch
offenes Buch
grünes Buch
blaues Buch
orangefarbenes Buch
Bücherstapel
Notizbuch
Spiralblock
teilweise eingerolltes Blatt
Schriftrolle
Vorderseite eines Blattes
Zeitung
zusammengerollte Zeitung
Pagemarker
Lesezeichen
Etikett
Geldsack
Münze
Yen-Banknote
Dollar-Banknote
Euro-Banknote
Pfund-Banknote
Geldschein mit Flügeln
Kreditkarte
Beleg
steigende Kurve mit Yen-Zeichen
Briefumschlag
E-Mail
eingehender Briefumschlag
Umschlag mit Pfeil
Postausgang
Posteingang
Paket
geschlossener Briefkasten mit Post
geschlossener Briefkasten ohne Post
offener Briefkasten mit Post
offener Briefkasten ohne Post
Briefkasten
Urne mit Wahlzettel
geschlossenes Schloss
offenes Schloss
Schloss mit Füller
Schloss mit Schlüssel
Schlüssel
alter Schlüssel
Warnung
Kinder überqueren die Straße
Zutritt verboten
Verboten
Fahrräder verboten
Rauchverbot
Abfall verboten
Kein Trinkwasser
Fußgänger verboten
Mobiltelefone verboten
Minderjährige verboten
Radioaktiv
Biogefährdung
mal
plus
minus
geteilt durch
Gleichheitszeichen extrafett
Unendlichkeit
doppeltes Ausrufezeichen
Ausrufe- und Fragezeichen
rotes Fragezeichen
weißes Fragezeichen
weißes Ausrufezeichen
rotes Ausrufezeichen
Wellenlinie
Äskulapstab
Recycling-Symbol
Lilie
Dreizack
Namensschild
japanisches Anfänger-Zeichen
hohler roter Kreis
weißes Häkchen
abgehaktes Kästchen
kräftiges Häkchen
Kreuzzeichen
angekreuztes Kästchen
Schleife
Doppelschleife
Teilalternationszeichen
achtzackiger Stern
achtstrahliger Stern
Funkeln
Copyright
Registered-Trademark
Markenzeichen
Zielflagge
Wimpel
überkreuzte Flaggen
schwarze Flagge
weiße Flagge
Regenbogenflagge
Transgender-Flagge
Piratenflagge
`;
