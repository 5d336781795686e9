// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.

/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ["Rechercher un emoji","Couleur de peau","Aucun emoji trouvé.","peau claire","peau moyennement claire","peau légèrement mate","peau mate","peau foncée"];

/** A line for each emoji of `EMOJI_GROUPS`: its name, and other words to find it, behind a `|` each. */
export const EMOJI_NAMES = `
visage rieur|sourire
visage souriant avec de grands yeux|sourire
visage très souriant aux yeux rieurs|sourire
visage souriant aux yeux rieurs|dents|sourire
visage souriant avec yeux plissés|rire|bouche
visage souriant avec une goutte de sueur|sourire
se rouler par terre de rire|visage
visage riant aux larmes|sourire
visage avec un léger sourire
tête à l’envers|renversée
visage qui fond|fondre|liquide
visage faisant un clin d’œil
visage souriant avec yeux rieurs|œil|rougir
visage souriant avec auréole|ange
visage souriant avec cœurs|aimer|amour
visage souriant avec yeux en forme de cœur|œil|amour
visage avec des étoiles à la place des yeux|grand sourire
visage envoyant un bisou|cœur
visage faisant un bisou
visage souriant|sourire
visage faisant un bisou avec les yeux fermés
visage aux yeux rieurs faisant un bisou
visage souriant avec une larme|ému|fier
miam|langue
visage qui tire la langue
visage qui tire la langue et fait un clin d’œil
tête de fou|œil|grand
visage qui tire la langue les yeux plissés|œil|goût
argent dans les yeux et la bouche
visage qui fait un câlin|gentil
visage avec une main sur la bouche|oups
visage avec yeux ouverts et main sur la bouche|gêné|étonné
visage qui regarde entre ses doigts|captivé|fasciné
visage avec un doigt sur la bouche|chut|silence
visage en pleine réflexion
visage qui fait un salut militaire|OK|oui
visage avec bouche fermeture éclair
visage avec les sourcils relevés|méfiant|sceptique
visage neutre
visage sans expression|neutre|inexpressif
visage sans bouche|muet
visage en pointillés|déprimé|invisible
visage avec un sourire malin
visage blasé|pas content
visage roulant des yeux|roulement
visage grimaçant|grimace
visage de menteur|mensonge|pinocchio
visage soulagé|soulagement
visage pensif|déçu
visage endormi|sommeil
visage qui bave|baver
visage somnolent|zzz|sommeil
visage avec masque
visage avec thermomètre|malade|indisposé
visage avec bandage autour de la tête
visage nauséeux|écœuré
visage qui vomit|malade|vomissure
visage qui éternue|rhume|atchoum
visage rouge et chaud|fièvre|transpiration
visage bleu et froid|gelure|glaçon
visage éméché|rond|hébété
visage étourdi|tournis
tête qui explose|choqué
visage avec chapeau de cowboy
visage festif|fête|chapeau
visage déguisé|faux nez|lunettes
visage avec lunettes de soleil
visage de geek|lunettes
visage avec un monocle|vieux jeu|collet monté
visage confus
visage avec bouche en diagonale
visage inquiet
visage légèrement mécontent
visage mécontent
visage avec bouche ouverte
visage ébahi
visage stupéfait
visage qui rougit
visage implorant
visage retenant ses larmes
visage mécontent avec bouche ouverte
visage angoissé
visage effrayé
visage anxieux avec goutte de sueur
visage triste mais soulagé
visage qui pleure
visage qui pleure à chaudes larmes
visage qui hurle de peur
visage déconcerté
visage persévérant
visage déçu
visage démoralisé avec goutte de sueur
visage épuisé
visage fatigué
visage bâillant
visage avec fumée sortant des narines
visage boudeur
visage en colère
visage avec des symboles dans la bouche
visage souriant avec des cornes
visage en colère avec des cornes
crâne
tête de mort
tas de crotte
visage de clown
ogre
monstre japonais
fantôme
alien
monstre de l’espace
robot
chat qui sourit
chat qui sourit avec des yeux rieurs
chat qui pleure de joie
chat souriant aux yeux en cœurs
chat avec sourire en coin
chat qui fait un bisou
chat fatigué
chat qui pleure
chat qui boude
singe ne rien voir
singe ne rien entendre
singe ne rien dire
lettre d’amour
cœur et flèche
cœur avec ruban
cœur étincelant
cœur grandissant
cœur battant
cœurs qui tournent
deux cœurs
décoration avec cœur
cœur point d’exclamation
cœur brisé
cœur rouge
cœur orange
cœur jaune
cœur vert
cœur bleu
cœur violet
cœur marron
cœur noir
cœur blanc
trace de rouge à lèvres
cent points
symbole de colère
explosion
étourdissement
gouttes de sueur
décamper
trou
bulle de parole
œil dans une bulle de BD
bulle de parole gauche
bulle colère droite
bulle de pensée
endormi
signe de la main
dos de main levée
main levée doigts écartés
main levée
salut vulcain
main vers la droite
main vers la gauche
main paume vers le bas
main paume vers le haut
ok
bout des doigts joints
pouce et index rapprochés
V de la victoire
doigts croisés
main avec index et pouce croisés
signe je t’aime
cornes avec les doigts
signe appel téléphonique avec les doigts
main avec index pointant à gauche
main avec index pointant à droite
main avec index pointant vers le haut
doigt d’honneur
main avec index pointant vers le bas
index pointant vers le haut
index pointant vers l’utilisateur
pouce vers le haut
pouce vers le bas
poing levé
poing de face
poing à gauche
poing à droite
applaudissements
mains levées
mains ouvertes
paume contre paume doigts vers le haut
poignée de main
mains en prière
main qui écrit
vernis à ongles
selfie
biceps contracté
bras mécanique
jambe mécanique
jambe
pied
oreille
oreille appareillée
nez
cerveau
cœur
poumons
dent
os
yeux
œil
langue
bouche
lèvres qui se mordent
bébé
enfant
garçon
fille
adulte
personne blonde
homme
personne barbue
femme
adulte : cheveux roux
adulte : cheveux bouclés
adulte : cheveux blancs
adulte : chauve
personne âgée
homme âgé
femme âgée
personne fronçant les sourcils
personne qui boude
personne faisant un geste d’interdiction
personne faisant un geste d’acceptation
personne paume vers le haut
personne qui lève la main
personne sourde
personne qui s’incline
personne avec la paume sur le visage
personne qui hausse les épaules
professionnel de la santé (tous genres)
étudiant (tous genres)
personnel enseignant
juge
fermier (tous genres)
cuisinier (tous genres)
mécanicien (tous genres)
ouvrier (tous genres)
employé de bureau (tous genres)
scientifique
informaticien (tous genres)
chanteur (tous genres)
artiste
pilote
astronaute
pompier
officier de police
détective
garde
ninja
personnel du bâtiment
prince
princesse
personne en turban
homme avec casquette chinoise
femme avec foulard
personne en smoking
personne mariée avec voile
femme enceinte
homme enceinte
personne enceinte
allaitement
personne allaitant un bébé
personne qui se fait masser
personne qui se fait couper les cheveux
personne qui marche
personne debout
personne à genoux
personne avec une canne blanche
personne en fauteuil motorisé
personne en fauteuil roulant manuel
personne qui court
danseuse
danseur
homme d’affaires en lévitation
personnes avec des oreilles de lapin
personne au hammam
personne qui grimpe
personne dans la posture du lotus
personne prenant un bain
personne au lit
tête de singe
singe
gorille
orang-outan
tête de chien
chien
chien guide
chien d’assistance
caniche
loup
renard
raton laveur
tête de chat
chat
chat noir
tête de lion
tête de tigre
tigre
léopard
tête de cheval
cheval
licorne
zèbre
cerf
bison
tête de vache
bœuf
buffle
vache
tête de cochon
cochon
sanglier
groin
bélier
mouton
chèvre
dromadaire
chameau
lama
girafe
éléphant
mammouth
rhinocéros
hippopotame
tête de souris
souris
rat
hamster
tête de lapin
lapin
écureuil
castor
hérisson
chauve-souris
ours
ours polaire
koala
panda
paresseux
loutre
mouffette
kangourou
blaireau
empreintes d’animaux
dindon
poule
coq
poussin qui éclôt
poussin
poussin de face
oiseau
pingouin
colombe
aigle
canard
cygne
chouette
dodo
plume
flamant
paon
perroquet
grenouille
crocodile
tortue
lézard
serpent
tête de dragon
dragon
sauropode
T-Rex
baleine soufflant par son évent
baleine
dauphin
phoque
poisson
poisson tropical
poisson-lune
requin
pieuvre
coquille en spirale
corail
escargot
papillon
chenille
fourmi
abeille
scarabée
coccinelle
criquet
cafard
araignée
toile d’araignée
scorpion
moustique
mouche
lombric
microbe
bouquet
fleur de cerisier
fleur blanche
lotus
rosette
rose
fleur fanée
hibiscus
tournesol
bourgeon
tulipe
jeune pousse
plante en pot
conifère
arbre à feuilles caduques
palmier
cactus
plant de riz
feuille
trèfle
trèfle à quatre feuilles
feuille d’érable
feuille morte
feuille virevoltante
nid vide
nid avec œufs
champignon
raisin
melon
pastèque
mandarine
citron
banane
ananas
mangue
pomme rouge
pomme verte
poire
pêche
cerises
fraise
myrtilles
kiwi
tomate
olive
noix de coco
avocat
aubergine
pomme de terre
carotte
épi de maïs
piment rouge
poivron
concombre
légume à feuilles vertes
brocoli
ail
oignon
cacahuètes
haricots
châtaigne
pain
croissant
baguette
galette
bretzel
bagel
pancakes
gaufre
part de fromage
viande sur un os
cuisse de poulet
morceau de viande
lard
hamburger
frites
pizza
hot dog
sandwich
taco
burrito
tamal
kebab
falafels
œuf
œuf au plat
plat mitonné
marmite
fondue
bol avec cuillère
salade verte
pop-corn
beurre
sel
aliments en conserve
boîte déjeuner
galette de riz
boulette de riz
bol de riz
riz au curry
bol fumant
spaghetti
patate douce
brochette de poisson
sushi
beignet de crevette
croquette de poisson
gâteau de lune
brochette de bonbons
boulette de pâte
biscuit chinois
boîte à emporter
crabe
homard
crevette
calamar
huître
glace italienne
granité
glace
doughnut
cookie
gâteau d’anniversaire
gâteau sablé
cupcake
tarte
barre chocolatée
bonbon
sucette
crème renversée
pot de miel
biberon
verre de lait
boisson chaude
théière
tasse
saké
bouteille de champagne
verre de vin
cocktail
cocktail tropical
chope
chopes de bière
trinquer
verre tumbler
verser un liquide
gobelet avec paille
thé aux perles
briquette de jus
maté
glaçon
baguettes
fourchette et couteau avec assiette
fourchette et couteau
cuillère
couteau de cuisine
amphore
globe tourné sur l’Afrique et l’Europe
globe tourné sur les Amériques
globe tourné sur l’Asie et l’Australie
globe avec méridiens
carte du monde
carte du Japon
boussole
montagne enneigée
montagne
volcan
mont Fuji
camping
plage avec parasol
désert
île déserte
parc national
fontaine
tente
brume
nuit étoilée
ville
soleil levant derrière les montagnes
soleil levant
ville au crépuscule
coucher de soleil
pont de nuit
sources chaudes
cheval de manège
toboggan
grande roue
montagnes russes
enseigne de barbier
chapiteau
locomotive
wagon
TGV
train à grande vitesse
train
métro
métro léger
gare
tramway
monorail
train de montagne
wagon de tramway
bus
bus de face
trolleybus
minibus
ambulance
camion de pompier
voiture de police
voiture de police de face
taxi
taxi de face
voiture
voiture de face
véhicule utilitaire sport
pick-up
camion de livraison
semi-remorque
tracteur
voiture de course
moto
scooter
fauteuil roulant manuel
fauteuil motorisé
tuk tuk
vélo
trottinette
planche à roulettes
patin à roulettes
arrêt de bus
autoroute
voie ferrée
baril de pétrole
pompe à essence
roue
gyrophare
feu tricolore horizontal
feu tricolore vertical
stop
travaux
ancre
bouée de sauvetage
voilier
canoë
hors-bord
paquebot
ferry
bateau à moteur
navire
avion
petit avion
avion au décollage
avion à l’atterrissage
parachute
siège
hélicoptère
train suspendu
téléphérique
tramway aérien
satellite
fusée
soucoupe volante
cloche de comptoir
bagage
sablier
sablier avec sable qui coule
montre
réveil
chronomètre
horloge
pendule
nouvelle lune
lune croissante
premier quartier de lune
lune gibbeuse croissante
pleine lune
lune gibbeuse décroissante
dernier quartier de lune
lune décroissante
croissant de lune
nouvelle lune avec visage
premier quartier de lune avec visage
dernier quartier de lune avec visage
thermomètre
soleil
pleine lune avec visage
soleil avec visage
planète à anneaux
étoile
étoile brillante
étoile filante
voie lactée
nuage
soleil derrière les nuages
nuage avec éclair et pluie
soleil derrière un petit nuage
soleil derrière un gros nuage
soleil derrière un nuage de pluie
nuage avec pluie
nuage avec neige
nuage avec éclair
tornade
brouillard
vent avec visage
cyclone
arc-en-ciel
parapluie fermé
parapluie ouvert
parapluie avec gouttes de pluie
parasol sur le sol
haute tension
flocon
bonhomme de neige
bonhomme de neige sans neige
comète
feu
goutte d’eau
vague
citrouille
sapin de Noël
feu d’artifice
cierge magique
pétard
étincelles
ballon gonflable
cotillons
confettis
arbre à vœux
bambou décoratif
poupées japonaises
koinobori
carillon éolien
cérémonie de la lune
enveloppe rouge
ruban
cadeau
ruban de mémoire
billet d’entrée
billet
médaille militaire
trophée
médaille sportive
médaille d’or
médaille d’argent
médaille de bronze
ballon de football
baseball
softball
basket
volley-ball
football américain
rugby
tennis
disque volant
bowling
cricket
hockey sur gazon
hockey sur glace
crosse
ping-pong
badminton
gant de boxe
tenue d’arts martiaux
cage
drapeau de golf
patin à glace
pêche à la ligne
masque de plongée
maillot de course
ski
luge
pierre de curling
dans le mille
yoyo
cerf-volant
pistolet à eau
boule de billard
boule de cristal
baguette magique
jeu vidéo
manette de jeu
machine à sous
dés
pièce de puzzle
ours en peluche
piñata
poupées russes
pique
cœur cartes
carreau
trèfle cartes
pion d’échec
carte Joker
dragon rouge mahjong
jeu des fleurs
spectacle vivant
cadre avec image
palette de peinture
bobine de fil
aiguille à coudre
fil
nœud
lunettes de vue
lunettes de soleil
lunettes
blouse blanche
gilet de sécurité
cravate
T-shirt
jean
foulard
gants
manteau
chaussettes
robe
kimono
sari
maillot de bain une pièce
slip
short
bikini
vêtements de femme
porte-monnaie
sac à main
pochette
sacs de shopping
cartable
tong
chaussure d’homme
chaussure de sport
chaussure de randonnée
chaussure plate
chaussure à talon haut
sandale de femme
chaussons de danse
botte de femme
couronne
chapeau de femme
haut de forme
toque universitaire
casquette américaine
casque militaire
casque de secouriste
chapelet
rouge à lèvres
bague
pierre précieuse
partition
note de musique
notes de musique
micro de studio
curseur de niveau
boutons de réglage
micro
casque
radio
saxophone
accordéon
guitare
piano
trompette
violon
banjo
batterie
djembé
téléphone portable
appel entrant
téléphone
combiné téléphonique
bipeur
fax
pile
pile faible
câble avec fiche électrique
ordinateur portable
ordinateur de bureau
imprimante
clavier
souris d’ordinateur
boule de commande
disque d’ordinateur
disquette
CD
DVD
abaque
caméra
pellicule
projecteur cinématographique
clap
téléviseur
appareil photo
appareil photo avec flash
caméscope
cassette vidéo
loupe orientée à gauche
loupe orientée à droite
bougie
ampoule
torche
lampion rouge
diya
carnet avec couverture
livre fermé
livre ouvert
livre vert
livre bleu
livre orange
livres
carnet
carnet de compte
page enroulée
parchemin
page
journal
journal roulé
signets
marque-page
étiquette
sac plein d’argent
pièce
billet en yens
billet en dollars
billet en euros
billet en livres
billet avec des ailes
carte bancaire
reçu
courbe avec yen en hausse
enveloppe
e-mail
message reçu
enveloppe avec flèche
boîte d’envoi
boîte de réception
colis
boîte aux lettres fermée drapeau levé
boîte aux lettres fermée drapeau baissé
boîte aux lettres ouverte drapeau levé
boîte aux lettres ouverte drapeau baissé
boîte aux lettres
urne électorale
cadenas fermé
cadenas ouvert
cadenas fermé avec stylo
cadenas fermé avec clé
clé
clé ancienne
symbole d’avertissement
traversée d’enfants
sens interdit
symbole d’interdiction
vélos interdits
interdiction de fumer
dépôt d’ordures interdit
eau non potable
interdit aux piétons
téléphones portables interdits
18 ans et plus
radioactif
danger biologique
signe multiplier
plus
moins
signe diviser
signe égal gras
infini
double point d’exclamation
points d’exclamation et d’interrogation
point d’interrogation rouge
point d’interrogation blanc
point d’exclamation blanc
point d’exclamation rouge
ligne ondulée
caducée
symbole Recyclage
fleur de lys
trident
badge nominatif
symbole japonais de débutant
cercle rouge
bouton coché
case cochée
coche
croix
bouton croix
boucle
double boucle
alternance
astérisque huit branches
étoile huit branches
éclat
symbole copyright
marque déposée
marque commerciale déposée
drapeau à damier
drapeau triangulaire
drapeaux croisés
drapeau noir
drapeau blanc
drapeau arc-en-ciel
drapeau transgenre
drapeau de pirate
`;
