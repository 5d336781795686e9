// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.

/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ["Search emoji","Skin tone","No emoji found.","light skin tone","medium-light skin tone","medium skin tone","medium-dark skin tone","dark skin tone"];

/** A line for each emoji of `EMOJI_GROUPS`: its name, and other words to find it, behind a `|` each. */
export const EMOJI_NAMES = `
grinning face
grinning face with big eyes|open|mouth
grinning face with smiling eyes|open|mouth
beaming face with smiling eyes|grin|smile
grinning squinting face|laugh|mouth
grinning face with sweat|cold|open
rolling on the floor laughing|face|rofl
face with tears of joy|laugh
slightly smiling face|smile
upside-down face
melting face|liquid|dissolve
winking face
smiling face with smiling eyes|blush|smile
smiling face with halo|angel|fantasy
smiling face with hearts|adore|crush
smiling face with heart-eyes|love|smile
star-struck|eyes|face
face blowing a kiss
kissing face
smiling face|smile|relaxed
kissing face with closed eyes
kissing face with smiling eyes|smile
smiling face with tear|proud|touched
face savoring food|yum|smile
face with tongue
winking face with tongue|eye|joke
zany face|eye|goofy
squinting face with tongue|eye|taste
money-mouth face
smiling face with open hands|hug|hugging
face with hand over mouth|whoops
face with open eyes and hand over mouth|awe|scared
face with peeking eye|peep|stare
shushing face|quiet
thinking face
saluting face|OK|yes
zipper-mouth face
face with raised eyebrow|skeptic|distrust
neutral face|meh|deadpan
expressionless face|meh|inexpressive
face without mouth|quiet|silent
dotted line face|hide|depressed
smirking face
unamused face|unhappy
face with rolling eyes|eyeroll
grimacing face|grimace
lying face|lie|pinocchio
relieved face
pensive face|dejected
sleepy face|good night
drooling face
sleeping face|ZZZ|good night
face with medical mask|cold|sick
face with thermometer|ill|sick
face with head-bandage|hurt|injury
nauseated face|vomit
face vomiting|puke|sick
sneezing face|sneeze|gesundheit
hot face|feverish|sweating
cold face|icicles|freezing
woozy face|dizzy|tipsy
face with crossed-out eyes|dead|knocked out
exploding head|shocked|mind blown
cowboy hat face|cowgirl
partying face|hat|horn
disguised face|nose|glasses
smiling face with sunglasses|cool|bright
nerd face|geek
face with monocle|stuffy
confused face|meh
face with diagonal mouth
worried face
slightly frowning face
frowning face
face with open mouth
hushed face
astonished face
flushed face
pleading face
face holding back tears
frowning face with open mouth
anguished face
fearful face
anxious face with sweat
sad but relieved face
crying face
loudly crying face
face screaming in fear
confounded face
persevering face
disappointed face
downcast face with sweat
weary face
tired face
yawning face
face with steam from nose
enraged face
angry face
face with symbols on mouth
smiling face with horns
angry face with horns
skull
skull and crossbones
pile of poo
clown face
ogre
goblin
ghost
alien
alien monster
robot
grinning cat
grinning cat with smiling eyes
cat with tears of joy
smiling cat with heart-eyes
cat with wry smile
kissing cat
weary cat
crying cat
pouting cat
see-no-evil monkey
hear-no-evil monkey
speak-no-evil monkey
love letter
heart with arrow
heart with ribbon
sparkling heart
growing heart
beating heart
revolving hearts
two hearts
heart decoration
heart exclamation
broken heart
red heart
orange heart
yellow heart
green heart
blue heart
purple heart
brown heart
black heart
white heart
kiss mark
hundred points
anger symbol
collision
dizzy
sweat droplets
dashing away
hole
speech balloon
eye in speech bubble
left speech bubble
right anger bubble
thought balloon
ZZZ
waving hand
raised back of hand
hand with fingers splayed
raised hand
vulcan salute
rightwards hand
leftwards hand
palm down hand
palm up hand
OK hand
pinched fingers
pinching hand
victory hand
crossed fingers
hand with index finger and thumb crossed
love-you gesture
sign of the horns
call me hand
backhand index pointing left
backhand index pointing right
backhand index pointing up
middle finger
backhand index pointing down
index pointing up
index pointing at the viewer
thumbs up
thumbs down
raised fist
oncoming fist
left-facing fist
right-facing fist
clapping hands
raising hands
open hands
palms up together
handshake
folded hands
writing hand
nail polish
selfie
flexed biceps
mechanical arm
mechanical leg
leg
foot
ear
ear with hearing aid
nose
brain
anatomical heart
lungs
tooth
bone
eyes
eye
tongue
mouth
biting lip
baby
child
boy
girl
person
person: blond hair
man
person: beard
woman
person: red hair
person: curly hair
person: white hair
person: bald
older person
old man
old woman
person frowning
person pouting
person gesturing NO
person gesturing OK
person tipping hand
person raising hand
deaf person
person bowing
person facepalming
person shrugging
health worker
student
teacher
judge
farmer
cook
mechanic
factory worker
office worker
scientist
technologist
singer
artist
pilot
astronaut
firefighter
police officer
detective
guard
ninja
construction worker
prince
princess
person wearing turban
person with skullcap
woman with headscarf
person in tuxedo
person with veil
pregnant woman
pregnant man
pregnant person
breast-feeding
person feeding baby
person getting massage
person getting haircut
person walking
person standing
person kneeling
person with white cane
person in motorized wheelchair
person in manual wheelchair
person running
woman dancing
man dancing
person in suit levitating
people with bunny ears
person in steamy room
person climbing
person in lotus position
person taking bath
person in bed
monkey face
monkey
gorilla
orangutan
dog face
dog
guide dog
service dog
poodle
wolf
fox
raccoon
cat face
cat
black cat
lion
tiger face
tiger
leopard
horse face
horse
unicorn
zebra
deer
bison
cow face
ox
water buffalo
cow
pig face
pig
boar
pig nose
ram
ewe
goat
camel
two-hump camel
llama
giraffe
elephant
mammoth
rhinoceros
hippopotamus
mouse face
mouse
rat
hamster
rabbit face
rabbit
chipmunk
beaver
hedgehog
bat
bear
polar bear
koala
panda
sloth
otter
skunk
kangaroo
badger
paw prints
turkey
chicken
rooster
hatching chick
baby chick
front-facing baby chick
bird
penguin
dove
eagle
duck
swan
owl
dodo
feather
flamingo
peacock
parrot
frog
crocodile
turtle
lizard
snake
dragon face
dragon
sauropod
T-Rex
spouting whale
whale
dolphin
seal
fish
tropical fish
blowfish
shark
octopus
spiral shell
coral
snail
butterfly
bug
ant
honeybee
beetle
lady beetle
cricket
cockroach
spider
spider web
scorpion
mosquito
fly
worm
microbe
bouquet
cherry blossom
white flower
lotus
rosette
rose
wilted flower
hibiscus
sunflower
blossom
tulip
seedling
potted plant
evergreen tree
deciduous tree
palm tree
cactus
sheaf of rice
herb
shamrock
four leaf clover
maple leaf
fallen leaf
leaf fluttering in wind
empty nest
nest with eggs
mushroom
grapes
melon
watermelon
tangerine
lemon
banana
pineapple
mango
red apple
green apple
pear
peach
cherries
strawberry
blueberries
kiwi fruit
tomato
olive
coconut
avocado
eggplant
potato
carrot
ear of corn
hot pepper
bell pepper
cucumber
leafy green
broccoli
garlic
onion
peanuts
beans
chestnut
bread
croissant
baguette bread
flatbread
pretzel
bagel
pancakes
waffle
cheese wedge
meat on bone
poultry leg
cut of meat
bacon
hamburger
french fries
pizza
hot dog
sandwich
taco
burrito
tamale
stuffed flatbread
falafel
egg
cooking
shallow pan of food
pot of food
fondue
bowl with spoon
green salad
popcorn
butter
salt
canned food
bento box
rice cracker
rice ball
cooked rice
curry rice
steaming bowl
spaghetti
roasted sweet potato
oden
sushi
fried shrimp
fish cake with swirl
moon cake
dango
dumpling
fortune cookie
takeout box
crab
lobster
shrimp
squid
oyster
soft ice cream
shaved ice
ice cream
doughnut
cookie
birthday cake
shortcake
cupcake
pie
chocolate bar
candy
lollipop
custard
honey pot
baby bottle
glass of milk
hot beverage
teapot
teacup without handle
sake
bottle with popping cork
wine glass
cocktail glass
tropical drink
beer mug
clinking beer mugs
clinking glasses
tumbler glass
pouring liquid
cup with straw
bubble tea
beverage box
mate
ice
chopsticks
fork and knife with plate
fork and knife
spoon
kitchen knife
amphora
globe showing Europe-Africa
globe showing Americas
globe showing Asia-Australia
globe with meridians
world map
map of Japan
compass
snow-capped mountain
mountain
volcano
mount fuji
camping
beach with umbrella
desert
desert island
national park
fountain
tent
foggy
night with stars
cityscape
sunrise over mountains
sunrise
cityscape at dusk
sunset
bridge at night
hot springs
carousel horse
playground slide
ferris wheel
roller coaster
barber pole
circus tent
locomotive
railway car
high-speed train
bullet train
train
metro
light rail
station
tram
monorail
mountain railway
tram car
bus
oncoming bus
trolleybus
minibus
ambulance
fire engine
police car
oncoming police car
taxi
oncoming taxi
automobile
oncoming automobile
sport utility vehicle
pickup truck
delivery truck
articulated lorry
tractor
racing car
motorcycle
motor scooter
manual wheelchair
motorized wheelchair
auto rickshaw
bicycle
kick scooter
skateboard
roller skate
bus stop
motorway
railway track
oil drum
fuel pump
wheel
police car light
horizontal traffic light
vertical traffic light
stop sign
construction
anchor
ring buoy
sailboat
canoe
speedboat
passenger ship
ferry
motor boat
ship
airplane
small airplane
airplane departure
airplane arrival
parachute
seat
helicopter
suspension railway
mountain cableway
aerial tramway
satellite
rocket
flying saucer
bellhop bell
luggage
hourglass done
hourglass not done
watch
alarm clock
stopwatch
timer clock
mantelpiece clock
new moon
waxing crescent moon
first quarter moon
waxing gibbous moon
full moon
waning gibbous moon
last quarter moon
waning crescent moon
crescent moon
new moon face
first quarter moon face
last quarter moon face
thermometer
sun
full moon face
sun with face
ringed planet
star
glowing star
shooting star
milky way
cloud
sun behind cloud
cloud with lightning and rain
sun behind small cloud
sun behind large cloud
sun behind rain cloud
cloud with rain
cloud with snow
cloud with lightning
tornado
fog
wind face
cyclone
rainbow
closed umbrella
umbrella
umbrella with rain drops
umbrella on ground
high voltage
snowflake
snowman
snowman without snow
comet
fire
droplet
water wave
jack-o-lantern
Christmas tree
fireworks
sparkler
firecracker
sparkles
balloon
party popper
confetti ball
tanabata tree
pine decoration
Japanese dolls
carp streamer
wind chime
moon viewing ceremony
red envelope
ribbon
wrapped gift
reminder ribbon
admission tickets
ticket
military medal
trophy
sports medal
1st place medal
2nd place medal
3rd place medal
soccer ball
baseball
softball
basketball
volleyball
american football
rugby football
tennis
flying disc
bowling
cricket game
field hockey
ice hockey
lacrosse
ping pong
badminton
boxing glove
martial arts uniform
goal net
flag in hole
ice skate
fishing pole
diving mask
running shirt
skis
sled
curling stone
bullseye
yo-yo
kite
water pistol
pool 8 ball
crystal ball
magic wand
video game
joystick
slot machine
game die
puzzle piece
teddy bear
piñata
nesting dolls
spade suit
heart suit
diamond suit
club suit
chess pawn
joker
mahjong red dragon
flower playing cards
performing arts
framed picture
artist palette
thread
sewing needle
yarn
knot
glasses
sunglasses
goggles
lab coat
safety vest
necktie
t-shirt
jeans
scarf
gloves
coat
socks
dress
kimono
sari
one-piece swimsuit
briefs
shorts
bikini
woman’s clothes
purse
handbag
clutch bag
shopping bags
backpack
thong sandal
man’s shoe
running shoe
hiking boot
flat shoe
high-heeled shoe
woman’s sandal
ballet shoes
woman’s boot
crown
woman’s hat
top hat
graduation cap
billed cap
military helmet
rescue worker’s helmet
prayer beads
lipstick
ring
gem stone
musical score
musical note
musical notes
studio microphone
level slider
control knobs
microphone
headphone
radio
saxophone
accordion
guitar
musical keyboard
trumpet
violin
banjo
drum
long drum
mobile phone
mobile phone with arrow
telephone
telephone receiver
pager
fax machine
battery
low battery
electric plug
laptop
desktop computer
printer
keyboard
computer mouse
trackball
computer disk
floppy disk
optical disk
dvd
abacus
movie camera
film frames
film projector
clapper board
television
camera
camera with flash
video camera
videocassette
magnifying glass tilted left
magnifying glass tilted right
candle
light bulb
flashlight
red paper lantern
diya lamp
notebook with decorative cover
closed book
open book
green book
blue book
orange book
books
notebook
ledger
page with curl
scroll
page facing up
newspaper
rolled-up newspaper
bookmark tabs
bookmark
label
money bag
coin
yen banknote
dollar banknote
euro banknote
pound banknote
money with wings
credit card
receipt
chart increasing with yen
envelope
e-mail
incoming envelope
envelope with arrow
outbox tray
inbox tray
package
closed mailbox with raised flag
closed mailbox with lowered flag
open mailbox with raised flag
open mailbox with lowered flag
postbox
ballot box with ballot
locked
unlocked
locked with pen
locked with key
key
old key
warning
children crossing
no entry
prohibited
no bicycles
no smoking
no littering
non-potable water
no pedestrians
no mobile phones
no one under eighteen
radioactive
biohazard
multiply
plus
minus
divide
heavy equals sign
infinity
double exclamation mark
exclamation question mark
red question mark
white question mark
white exclamation mark
red exclamation mark
wavy dash
medical symbol
recycling symbol
fleur-de-lis
trident emblem
name badge
Japanese symbol for beginner
hollow red circle
check mark button
check box with check
check mark
cross mark
cross mark button
curly loop
double curly loop
part alternation mark
eight-spoked asterisk
eight-pointed star
sparkle
copyright
registered
trade mark
chequered flag
triangular flag
crossed flags
black flag
white flag
rainbow flag
transgender flag
pirate flag
`;
