// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.

/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ["Buscar emoji","Tono de piel","No se encontró ningún emoji.","tono de piel claro","tono de piel claro medio","tono de piel medio","tono de piel oscuro medio","tono de piel oscuro"];

/** A line for each emoji of `EMOJI_GROUPS`: its name, and other words to find it, behind a `|` each. */
export const EMOJI_NAMES = `
cara sonriendo|feliz|sonrisa
cara sonriendo con ojos grandes|risa|divertido
cara sonriendo con ojos sonrientes|abierta|sonrisa
cara radiante con ojos sonrientes|risa|sonrisa
cara sonriendo con los ojos cerrados|boca|risa
cara sonriendo con sudor frío|risa
cara revolviéndose de la risa|carcajada|ojos cerrados
cara llorando de risa|lágrima|felicidad
cara sonriendo ligeramente|sonrisa
cara al revés
cara derritiéndose|calor|líquido
cara guiñando el ojo|guiño
cara feliz con ojos sonrientes|rubor|sonrisa
cara sonriendo con aureola|halo|ángel
cara sonriendo con corazones|amor|adorar
cara sonriendo con ojos de corazón|amor|sonrisa
cara sonriendo con estrellas|sonrisa
cara lanzando un beso
cara besando|beso
cara sonriente|sonrisa|contorno
cara besando con los ojos cerrados|beso
cara besando con ojos sonrientes|beso|sonrisa
cara sonriente con lágrima|sonrisa|aliviado
cara saboreando comida|rico|hambre
cara sacando la lengua
cara sacando la lengua y guiñando un ojo|guiño
cara de loco|ojo|grande
cara con ojos cerrados y lengua fuera|sabor
cara con lengua de dinero|boca
cara con manos abrazando|abrazo|sonrisa
cara con mano sobre la boca|uy|vaya
cara con ojos abiertos y boca tapada|asombro|alucinar
cara tapada con ojo espiando|mirar|espiar
cara pidiendo silencio|callado
cara pensativa|pensando
cara saludando|sí|sol
cara con la boca cerrada con cremallera
cara con ceja alzada|escéptico|desconfiado
cara neutral|inexpresivo
cara sin expresión|inexpresión|inexpresiva
cara sin boca|callado|silencio
cara con línea de puntos|depresivo|esconderse
cara sonriendo con superioridad|listillo
cara de desaprobación|rechazo|insatisfacción
cara con ojos en blanco|vueltos|frustración
cara haciendo una mueca
cara de mentiroso|nariz|pinocho
cara de alivio|aliviado
cara desanimada|alicaído|pensativo
cara de sueño|dormir
cara babeando|baba
cara durmiendo|zzz|sueño
cara con mascarilla médica|malo|enfermo
cara con termómetro|malo|enfermo
cara con la cabeza vendada|dolor|herida
cara de náuseas|vomitar
cara vomitando|malo|enfermo
cara estornudando|pañuelo|estornudo
cara con calor|sudor|fiebre
cara con frío|helado|congelado
cara de grogui|mareado|atontado
cara mareada|mareo
cabeza explotando|explosión
cara con sombrero de vaquero|vaquera
cara de fiesta|gorro|capirote
cara disfrazada|gafas|nariz
cara sonriendo con gafas de sol|guay
cara de empollón|friki|friqui
cara con monóculo|estirado|aristocrático
cara de confusión|confuso
cara con boca diagonal
cara preocupada
cara con el ceño ligeramente fruncido
cara con el ceño fruncido
cara con la boca abierta
cara estupefacta
cara asombrada
cara sonrojada
cara de por favor
cara aguantándose las lágrimas
cara con el ceño fruncido y la boca abierta
cara angustiada
cara asustada
cara con ansiedad y sudor
cara triste pero aliviada
cara llorando
cara llorando fuerte
cara gritando de miedo
cara de frustración
cara desesperada
cara decepcionada
cara con sudor frío
cara agotada
cara cansada
cara de bostezo
cara resoplando
cara cabreada
cara enfadada
cara con símbolos en la boca
cara sonriendo con cuernos
cara enfadada con cuernos
calavera
calavera y huesos cruzados
caca con ojos
cara de payaso
demonio japonés oni
demonio japonés tengu
fantasma
alienígena
monstruo alienígena
robot
gato sonriendo
gato sonriendo con ojos sonrientes
gato llorando de risa
gato sonriendo con ojos de corazón
gato haciendo una mueca
gato besando
gato asustado
gato llorando
gato enfadado
mono con los ojos tapados
mono con los oídos tapados
mono con la boca tapada
carta de amor
corazón con flecha
corazón con lazo
corazón brillante
corazón creciente
corazón latiendo
corazones giratorios
dos corazones
adorno de corazón
exclamación de corazón
corazón roto
corazón rojo
corazón naranja
corazón amarillo
corazón verde
corazón azul
corazón morado
corazón marrón
corazón negro
corazón blanco
marca de beso
cien puntos
símbolo de enfado
colisión
símbolo de mareo
gotas de sudor
salir corriendo
agujero
bocadillo de diálogo
ojo en bocadillo de texto
bocadillo de diálogo por la izquierda
bocadillo de enfado por la derecha
bocadillo de pensamiento
símbolo de sueño
mano saludando
dorso de la mano
mano abierta
mano levantada
saludo vulcano
mano hacia la derecha
mano hacia la izquierda
mano con la palma hacia abajo
mano con la palma hacia arriba
señal de aprobación con la mano
dedos juntos apuntando hacia arriba
mano pellizcando
mano con señal de victoria
dedos cruzados
mano con dedo índice y pulgar cruzados
gesto de te quiero
mano haciendo el signo de cuernos
mano haciendo el gesto de llamar
dorso de mano con índice a la izquierda
dorso de mano con índice a la derecha
dorso de mano con índice hacia arriba
dedo corazón hacia arriba
dorso de mano con índice hacia abajo
dedo índice hacia arriba
dedo índice apuntándote a ti
pulgar hacia arriba
pulgar hacia abajo
puño en alto
puño cerrado
puño hacia la izquierda
puño hacia la derecha
manos aplaudiendo
manos levantadas celebrando
manos abiertas
palmas hacia arriba juntas
apretón de manos
manos en oración
mano escribiendo
pintarse las uñas
selfi
bíceps flexionado
brazo mecánico
pierna mecánica
pierna
pie
oreja
oreja con audífono
nariz
cerebro
corazón humano
pulmones
diente
hueso
ojos
ojo
lengua
boca
labio mordido
bebé
infante
niño
niña
persona adulta
persona adulta rubia
hombre
hombre con barba
mujer
persona adulta: pelo pelirrojo
persona adulta: pelo rizado
persona adulta: pelo blanco
persona adulta: sin pelo
persona mayor
anciano
anciana
persona frunciendo el ceño
persona haciendo pucheros
persona haciendo el gesto de &quot;no&quot;
persona haciendo el gesto de &quot;de acuerdo&quot;
persona de mostrador de información
persona con la mano levantada
persona sorda
persona haciendo una reverencia
persona con la mano en la frente
persona encogida de hombros
profesional sanitario
estudiante
docente
fiscal
profesional de la agricultura
chef
profesional de la mecánica
profesional industrial
oficinista
profesional de la ciencia
profesional de la tecnología
cantante
artista
piloto
astronauta
bombero
agente de policía
detective
guardia
ninja
profesional de la construcción
príncipe
princesa
persona con turbante
hombre con gorro chino
mujer con hiyab
persona con esmoquin
persona con velo
mujer embarazada
hombre embarazado
persona embarazada
lactancia materna
persona alimentando a bebé
persona recibiendo masaje
persona cortándose el pelo
persona caminando
persona de pie
persona de rodillas
persona con bastón
persona en silla de ruedas eléctrica
persona en silla de ruedas manual
persona corriendo
mujer bailando
hombre bailando
hombre trajeado levitando
personas con orejas de conejo
persona en una sauna
persona escalando
persona en posición de loto
persona en la bañera
persona en la cama
cara de mono
mono
gorila
orangután
cara de perro
perro
perro guía
perro de servicio
caniche
lobo
zorro
mapache
cara de gato
gato
gato negro
león
cara de tigre
tigre
leopardo
cara de caballo
caballo
unicornio
cebra
ciervo
bisonte
cara de vaca
buey
búfalo de agua
vaca
cara de cerdo
cerdo
jabalí
nariz de cerdo
carnero
oveja
cabra
dromedario
camello
llama
jirafa
elefante
mamut
rinoceronte
hipopótamo
cara de ratón
ratón
rata
hámster
cara de conejo
conejo
ardilla
castor
erizo
murciélago
oso
oso polar
koala
panda
perezoso
nutria
mofeta
canguro
tejón
huellas de pezuñas
pavo
gallina
gallo
pollito rompiendo el cascarón
pollito
pollito de frente
pájaro
pingüino
paloma
águila
pato
cisne
búho
dodo
pluma
flamenco
pavo real
loro
rana
cocodrilo
tortuga
lagarto
serpiente
cara de dragón
dragón
saurópodo
t-rex
ballena soltando un chorro
ballena
delfín
foca
pez
pez tropical
pez globo
tiburón
pulpo
concha de mar
coral
caracol
mariposa
insecto
hormiga
abeja
escarabajo
mariquita
grillo
cucaracha
araña
tela de araña
escorpión
mosquito
mosca
gusano
microbio
ramo de flores
flor de cerezo
flor blanca
loto
roseta
rosa
flor marchita
flor de hibisco
girasol
flor
tulipán
planta joven
planta de maceta
árbol de hoja perenne
árbol de hoja caduca
palmera
cactus
espiga de arroz
hierba
trébol
trébol de cuatro hojas
hoja de arce
hojas caídas
hojas revoloteando al viento
nido vacío
nido con huevos
champiñón
uvas
melón
sandía
mandarina
limón
plátano
piña
mango
manzana roja
manzana verde
pera
melocotón
cerezas
fresa
arándanos
kiwi
tomate
aceituna
coco
aguacate
berenjena
patata
zanahoria
espiga de maíz
chile picante
pimiento
pepino
verdura de hoja verde
brócoli
ajo
cebolla
cacahuetes
alubias
castaña
pan de molde
cruasán
baguete
pan sin levadura
bretzel
bagel
tortitas
gofre
cuña de queso
carne con hueso
muslo de pollo
corte de carne
beicon
hamburguesa
patatas fritas
pizza
perrito caliente
sándwich
taco
burrito
tamal
pan relleno
falafel
huevo
cocinar
paella
olla de comida
fondue
cuenco con cuchara
ensalada
palomitas
mantequilla
sal
comida enlatada
caja de bento
galleta de arroz
bola de arroz
arroz cocido
arroz con curry
tazón de fideos
espagueti
patata asada
brocheta
sushi
gamba frita
pastel de pescado japonés
pastel de luna
dango
dumpling
galleta de la fortuna
caja para llevar
cangrejo
bogavante
gamba
calamar
ostra
cucurucho de helado
granizado hawaiano
helado
dónut
galleta
tarta de cumpleaños
trozo de tarta
magdalena
pastel
tableta de chocolate
caramelo
piruleta
flan
tarro de miel
biberón
vaso de leche
bebida caliente
tetera
tazón de té
sake
botella descorchada
copa de vino
copa de cóctel
bebida tropical
jarra de cerveza
jarras de cerveza brindando
copas brindando
vaso de whisky
líquido derramándose
vaso con pajita
té de burbujas
tetrabrik
mate
cubito de hielo
palillos
cuchillo y tenedor con un plato
tenedor y cuchillo
cuchara
cuchillo de cocina
ánfora
globo terráqueo mostrando Europa y África
globo terráqueo mostrando América
globo terráqueo mostrando Asia y Australia
globo terráqueo con meridianos
mapa mundial
mapa de Japón
brújula
montaña con nieve
montaña
volcán
monte Fuji
camping
playa y sombrilla
desierto
isla desierta
parque nacional
fuente
tienda de campaña
bruma
noche estrellada
paisaje urbano
amanecer sobre montañas
amanecer
ciudad al atardecer
puesta del sol
puente de noche
aguas termales
caballo de tiovivo
tobogán
noria de feria
montaña rusa
poste de barbero
carpa de circo
locomotora de vapor
vagón
tren de alta velocidad
tren bala
tren
metro
tren ligero
estación de tren
tranvía
monorraíl
ferrocarril de montaña
vagón de tranvía
autobús
autobús próximo
trolebús
minibús
ambulancia
coche de bomberos
coche de policía
coche de policía próximo
taxi
taxi próximo
coche
coche próximo
vehículo deportivo utilitario
camioneta
camión de reparto
camión articulado
tractor
coche de carreras
moto
scooter
silla de ruedas manual
silla de ruedas eléctrica
mototaxi
bicicleta
patinete
monopatín
patines
parada de autobús
autopista
vía de tren
barril de petróleo
surtidor de gasolina
rueda
luces de policía
semáforo horizontal
semáforo
señal de stop
obras
ancla
salvavidas
velero
canoa
lancha motora
barco de pasajeros
ferri
barco a motor
barco
avión
avioneta
avión despegando
avión aterrizando
paracaídas
asiento de transporte
helicóptero
ferrocarril de suspensión
teleférico de montaña
teleférico
satélite
cohete
platillo volante
timbre de hotel
equipaje
reloj de arena sin tiempo
reloj de arena con tiempo
reloj
reloj despertador
cronómetro
temporizador
reloj de sobremesa
luna nueva
luna creciente
luna en cuarto creciente
luna gibosa creciente
luna llena
luna gibosa menguante
luna en cuarto menguante
luna menguante
luna
luna nueva con cara
luna de cuarto creciente con cara
luna de cuarto menguante con cara
termómetro
sol
luna llena con cara
sol con cara
planeta con anillos
estrella blanca mediana
estrella brillante
estrella fugaz
Vía Láctea
nube
sol detrás de una nube
nube con rayo y lluvia
sol detrás de una nube pequeña
sol detrás de una nube grande
sol detrás de una nube con lluvia
nube con lluvia
nube con nieve
nube con rayo
tornado
niebla
cara de viento
ciclón
arcoíris
paraguas cerrado
paraguas
paraguas con gotas de lluvia
sombrilla en la arena
alto voltaje
copo de nieve
muñeco de nieve con nieve
muñeco de nieve
meteorito
fuego
gota
ola de mar
calabaza de Halloween
árbol de Navidad
fuegos artificiales
bengala
petardo
chispas
globo
cañón de confeti
bola de confeti
árbol de tanabata
decoración de pino
muñecas japonesas
banderín de carpas
campanilla de viento
ceremonia de contemplación de la luna
sobre rojo
lazo
regalo
lazo conmemorativo
entradas
tique
medalla militar
trofeo
medalla deportiva
medalla de oro
medalla de plata
medalla de bronce
balón de fútbol
béisbol
pelota de softball
balón de baloncesto
voleibol
balón de fútbol americano
balón de rugby
pelota de tenis
disco volador
bolos
críquet
hockey sobre hierba
hockey sobre hielo
lacrosse
tenis de mesa
bádminton
guante de boxeo
uniforme de artes marciales
portería
banderín en hoyo
patín de hielo
caña de pescar
máscara de buceo
camiseta sin mangas
esquís
trineo
piedra de curling
diana
yoyó
cometa
pistola de agua
bola negra de billar
bola de cristal
varita mágica
mando de videoconsola
joystick
máquina tragaperras
dado
pieza de puzle
osito de peluche
piñata
muñeca rusa
palo de picas
palo de corazones
palo de diamantes
palo de tréboles
peón de ajedrez
comodín
dragón rojo de mahjong
cartas de flores
máscaras de teatro
cuadro enmarcado
paleta de pintor
hilo
aguja de coser
ovillo
nudo
gafas
gafas de sol
gafas de protección
bata de laboratorio
chaleco de seguridad
corbata
camiseta
vaqueros
bufanda
guantes
abrigo
calcetines
vestido
kimono
sari
traje de baño de una pieza
ropa interior
pantalones cortos
bikini
ropa de mujer
monedero
bolso
bolso de mano
bolsas de compras
mochila escolar
chancla
zapato de hombre
zapatilla deportiva
bota de senderismo
bailarina
zapato de tacón
sandalia de mujer
zapatillas de ballet
bota de mujer
corona
sombrero de mujer
sombrero de copa
birrete
gorra con visera
casco militar
casco con una cruz blanca
rosario
pintalabios
anillo
piedra preciosa
pentagrama
nota musical
notas musicales
micrófono de estudio
control de volumen
ruedas de control
micrófono
auricular
radio
saxofón
acordeón
guitarra
teclado musical
trompeta
violín
banjo
tambor
tamboril
teléfono móvil
móvil con una flecha
teléfono
auricular de teléfono
busca
máquina de fax
pila
batería baja
enchufe eléctrico
ordenador portátil
ordenador de sobremesa
impresora
teclado
ratón de ordenador
bola de desplazamiento
minidisc
disquete
disco óptico
disco DVD
ábaco
cámara de cine
fotograma de película
proyector de cine
claqueta
televisión
cámara de fotos
cámara con flash
videocámara
cinta de vídeo
lupa orientada hacia la izquierda
lupa orientada hacia la derecha
vela
bombilla
linterna
lámpara japonesa
lámpara de aceite
cuaderno con tapa decorativa
libro cerrado
libro abierto
libro verde
libro azul
libro naranja
libros
cuaderno
libro de contabilidad
página doblada
pergamino
página hacia arriba
periódico
periódico enrollado
marcadores
marcapáginas
etiqueta
bolsa de dinero
moneda
billete de yen
billete de dólar
billete de euro
billete de libra
billete con alas
tarjeta de crédito
recibo
mercado al alza
sobre
correo electrónico
sobre entrante
sobre con flecha
bandeja de salida
bandeja de entrada
paquete
buzón cerrado con la bandera levantada
buzón cerrado con la bandera bajada
buzón abierto con la bandera levantada
buzón abierto con la bandera bajada
buzón
urna con papeleta
candado cerrado
candado abierto
candado con pluma estilográfica
candado cerrado y llave
llave
llave antigua
advertencia
niños cruzando
dirección prohibida
prohibido
bicicletas prohibidas
prohibido fumar
prohibido tirar basura
agua no potable
prohibido el paso de peatones
prohibido el uso de móviles
prohibido para menos de 18 años
radiactivo
riesgo biológico
multiplicación
más
menos
división
signo igual grueso
infinito
exclamación doble
exclamación e interrogación
interrogación roja
interrogación blanca
exclamación blanca
exclamación roja
guion ondulado
símbolo de medicina
símbolo de reciclaje
flor de lis
emblema de tridente
etiqueta identificativa
símbolo japonés para principiante
círculo rojo hueco
botón de marca de verificación
casilla con marca de verificación
marca de verificación
marca de cruz
botón con marca de cruz
bucle
bucle doble
marca de alternancia
asterisco de ocho puntas
estrella de ocho puntas
chispa
copyright
marca registrada
símbolo de marca comercial
bandera de cuadros
bandera triangular
banderas cruzadas
bandera negra
bandera blanca
bandera del arcoíris
bandera transgénero
bandera pirata
`;
