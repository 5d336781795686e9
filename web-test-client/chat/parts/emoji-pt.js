// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.

/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ["Procurar emoji","Tom de pele","Nenhum emoji encontrado.","pele clara","pele morena clara","pele morena","pele morena escura","pele escura"];

/** A line for each emoji of `EMOJI_GROUPS`: its name, and other words to find it, behind a `|` each. */
export const EMOJI_NAMES = `
rosto risonho|lol|rindo
rosto risonho com olhos bem abertos|boca|sorriso
rosto risonho com olhos sorridentes|boca|aberta
rosto contente com olhos sorridentes|sorriso|sorriso aberto
rosto risonho com olhos semicerrados|gargalhada|olhos fechados
rosto risonho com gota de suor|suor frio|sorriso com suor frio
rolando no chão de rir|rosto|gargalhada
rosto chorando de rir|alegria|lágrimas
rosto levemente sorridente|sorriso
rosto de cabeça para baixo|rosto invertido
rosto derretendo|líquido|derreter
rosto com olho piscando|piscada
rosto sorridente com olhos sorridentes|ruborizar|olhos sorrindo
rosto sorridente com auréola|anjo|inocente
rosto sorridente com 3 corações|amor|paixão
rosto sorridente com olhos de coração|amor
rosto com olhar maravilhado|olhos|estrela
rosto mandando um beijo
rosto beijando|beijo
rosto sorridente|sorriso
rosto beijando com olhos fechados|beijando com os olhos fechados
rosto beijando com olhos sorridentes|sorriso|olhos sorrindo
rosto sorridente com lágrima|grato|aliviado
rosto saboreando comida|nham|gostoso
rosto mostrando a língua|rosto com língua para fora
rosto piscando e com língua para fora|piscadela|provocação
rosto bizarro|olho|grande
rosto com olhos semicerrados e língua para fora|horrível|olhos fechados
rosto com cifrões|rico|cifrão
rosto abraçando|abraço|mãos abraçando
rosto com a mão sobre a boca|ops
rosto com olhos abertos e mão sobre a boca|temor|espanto
rosto com olho espiando|espiar|cativado
rosto fazendo sinal de silêncio|quieto
rosto pensativo|pensando|mão no queixo
rosto saudando|ok|sim
rosto com boca de zíper
rosto com sobrancelha levantada|cético|desconfiança
rosto neutro|sem emoção|sem comentários
rosto inexpressivo|sem expressão
rosto sem boca|calado|quieto
rosto com linha pontilhada|esconder|deprimido
rosto com sorriso maroto|sorriso malicioso
rosto aborrecido|blasé|rosto de que não achou graça
rosto com olhos revirados|revirando os olhos
rosto expressando desagrado|fazendo careta|rosto fazendo careta
rosto de mentiroso|mentira|mentindo
rosto aliviado|alívio
rosto deprimido|desanimado
rosto sonolento|rosto com sono
rosto babando|babar
rosto dormindo|zzz|sono
rosto com máscara médica|doente|gripado
rosto com termômetro|febre|febril
rosto com atadura na cabeça|ferimento|acidentado
rosto nauseado|enjoo|vômito
rosto vomitando|doente|vômito
rosto espirrando|espirro
rosto fervendo de calor|febril|quente
rosto gelado|frio|gélido
rosto embriagado|bêbado|intoxicado
rosto atordoado
cabeça explodindo|chocado
rosto com chapéu de caubói
rosto festivo|apito|festa
rosto disfarçado|nariz|óculos
rosto sorridente com óculos escuros|sol|sorrindo
rosto de nerd|cdf|estudioso
rosto com monóculo|conservador
rosto confuso|indeciso
rosto com boca diagonal
rosto preocupado
rosto meio triste
rosto descontente
rosto com boca aberta
rosto surpreso
rosto espantado
rosto ruborizado
rosto implorando
rosto segurando as lágrimas
rosto franzido com boca aberta
rosto angustiado
rosto amedrontado
rosto ansioso com gota de suor
rosto triste, mas aliviado
rosto chorando
rosto chorando aos berros
rosto gritando de medo
rosto perplexo
rosto perseverante
rosto desapontado
rosto cabisbaixo com gota de suor
rosto desolado
rosto cansado
rosto bocejando
rosto soltando vapor pelo nariz
rosto furioso
rosto zangado
rosto com símbolos na boca
rosto sorridente com chifres
rosto zangado com chifres
caveira
caveira e ossos cruzados
cocô
rosto de palhaço
ogro
duende japonês
fantasma
alienígena
monstro alienígena
rosto de robô
rosto de gato sorrindo
rosto de gato sorrindo com olhos sorridentes
rosto de gato com lágrimas de alegria
rosto de gato sorridente com olhos de coração
rosto de gato com sorriso irônico
rosto de gato mandando um beijo
rosto de gato desolado
rosto de gato chorando
rosto de gato mal-humorado
macaco que não vê nada
macaco que não ouve nada
macaco que não fala nada
carta de amor
coração com flecha
coração com fita
coração brilhante
coração crescendo
coração pulsante
corações girando
dois corações
coração decorativo
exclamação de coração
coração partido
coração vermelho
coração laranja
coração amarelo
coração verde
coração azul
coração roxo
coração marrom
coração preto
coração branco
marca de beijo
cem pontos
símbolo de raiva
colisão
zonzo
pingos de suor
rapidez
buraco
balão de diálogo
olho no balão de diálogo
balão de diálogo à esquerda
balão de raiva à direita
balão de pensamento
zzz
mão acenando
dorso da mão levantado
mão aberta com os dedos separados
mão levantada
saudação vulcana
mão para a direita
mão para a esquerda
mão com a palma para baixo
mão com a palma para cima
sinal de ok
dedos comprimidos
mão beliscando
mão em V de vitória
dedos cruzados
mão com dedo indicador e polegar cruzados
gesto de &quot;te amo&quot;
saudação do rock
sinal &quot;me liga&quot;
dorso da mão com dedo indicador apontando para a esquerda
dorso da mão com dedo indicador apontando para a direita
dorso da mão com dedo indicador apontando para cima
dedo do meio
dorso da mão com dedo indicador apontando para baixo
indicador apontando para cima
indicador apontando para o visualizador
polegar para cima
polegar para baixo
punho levantado
soco
punho esquerdo
punho direito
mãos aplaudindo
mãos para cima
mãos abertas
palmas unidas para cima
aperto de mãos
mãos juntas
escrevendo à mão
esmalte de unha
selfie
bíceps
braço mecânico
perna mecânica
perna
pé
orelha
ouvido com aparelho auditivo
nariz
cérebro
coração humano
pulmões
dente
osso
olhos
olho
língua
boca
mordendo o lábio
bebê
criança
menino
menina
pessoa
pessoa: cabelo louro
homem
homem: barba
mulher
pessoa: cabelo vermelho
pessoa: cabelo cacheado
pessoa: cabelo branco
pessoa: careca
idoso
homem idoso
idosa
franzindo a sobrancelha
pessoa fazendo bico
pessoa fazendo gesto de “não”
pessoa fazendo gesto de “OK”
pessoa com a palma virada para cima
pessoa levantando a mão
pessoa surda
pessoa fazendo reverência
pessoa decepcionada
pessoa dando de ombros
profissional de saúde
aluno
professora na escola
juiz no tribunal
agricultor
chef de cozinha
mecânico trabalhando
funcionário de fábrica
trabalhador de escritório
cientista
programador
cantor
artista
piloto
astronauta
bombeiro
policial
detetive
guarda
ninja
trabalhador de construção civil
príncipe
princesa
pessoa com turbante
homem de boné
mulher com véu
pessoa de smoking
pessoa com véu
grávida
homem grávido
pessoa grávida
amamentando
pessoa alimentando bebê
pessoa recebendo massagem facial
pessoa cortando o cabelo
pessoa andando
pessoa em pé
pessoa ajoelhando
pessoa com bengala para cego
pessoa em cadeira de rodas motorizada
pessoa em cadeira de rodas manual
pessoa correndo
mulher dançando
homem dançando
homem de terno levitando
pessoas com orelhas de coelho
pessoa na sauna
pessoa escalando
pessoa na posição de lótus
pessoa tomando banho
pessoa deitada na cama
rosto de macaco
macaco
gorila
orangotango
rosto de cachorro
cachorro
cão-guia
cão de serviço
poodle
rosto de lobo
rosto de raposa
guaxinim
rosto de gato
gato
gato preto
rosto de leão
rosto de tigre
tigre
leopardo
rosto de cavalo
cavalo
rosto de unicórnio
zebra
cervo
bisão
rosto de vaca
boi
búfalo-asiático
vaca
rosto de porco
porco
javali
nariz de porco
carneiro
ovelha
cabra
camelo
camelo com duas corcovas
lhama
girafa
elefante
mamute
rinoceronte
hipopótamo
rosto de camundongo
camundongo
rato
rosto de hamster
rosto de coelho
coelho
esquilo
castor
porco-espinho
morcego
rosto de urso
urso polar
coala
rosto de panda
preguiça
lontra
gambá
canguru
texugo
patas
peru
galinha
galo
pintinho chocando
pintinho de perfil
pintinho de frente
pássaro
pinguim
pomba branca
águia
pato
cisne
coruja
dodô
pena
flamingo
pavão
papagaio
sapo
crocodilo
tartaruga
lagartixa
cobra
rosto de dragão
dragão
saurópode
tiranossauro rex
baleia esguichando água
baleia
golfinho
foca
peixe
peixe tropical
baiacu
tubarão
polvo
caramujo
coral
caracol
borboleta
inseto
formiga
abelha
besouro
joaninha
grilo
barata
aranha
teia de aranha
escorpião
mosquito
mosca
minhoca
micróbio
buquê
flor de cerejeira
flor branca
lótus
roseta
rosa
flor murcha
hibisco
girassol
flor
tulipa
muda de planta
vaso com planta
conífera
árvore caidiça
palmeira
cacto
planta de arroz
erva
trevo
trevo de quatro folhas
folha de bordo
folhas caídas
folha ao vento
ninho vazio
ninho com ovos
cogumelo
uvas
melão
melancia
tangerina
limão
banana
abacaxi
manga
maçã vermelha
maçã verde
pera
pêssego
cereja
morango
mirtilos
kiwi
tomate
azeitona
coco
abacate
berinjela
batata
cenoura
milho
pimenta
pimentão
pepino
verdura
brócolis
alho
cebola
amendoim
feijões
castanha
pão
croissant
baguete
pão sírio
pretzel
rosca
panquecas
waffle
queijo
carne
coxa de frango
corte de carne
bacon
hambúrguer
batata frita
pizza
cachorro-quente
sanduíche
taco
burrito
tamale
pão recheado
falafel
ovo
ovo frito
caçarola com comida
panela
fondue
tigela com colher
salada verde
pipoca
manteiga
sal
comida enlatada
bentô
biscoito de arroz
arroz japonês
arroz cozido
arroz com curry
lámen
espaguete
batata assada
oden
sushi
camarão frito
bolinho de peixe
bolo lunar
dango
bolinho asiático
biscoito da sorte
caixa para viagem
caranguejo
lagosta
camarão
lula
ostra
sorvete italiano
raspadinha de gelo
sorvete
donut
biscoito
bolo de aniversário
pão de ló de morango
cupcake
torta
chocolate
bala
pirulito
pudim
pote de mel
mamadeira
copo de leite
café
bule
xícara de chá sem alça
saquê
garrafa de champanhe
vinho
coquetel
bebida tropical
cerveja
canecas de cerveja
taças brindando
copo
derramando líquido
copo com canudo
chá perolado
suco de caixa
mate
cubo de gelo
hashi
prato com talheres
garfo e faca
colher
faca de cozinha
ânfora
globo mostrando Europa e África
globo mostrando as Américas
globo mostrando Ásia e Oceania
globo com meridianos
mapa-múndi
mapa do Japão
bússola
montanha com neve
montanha
vulcão
Monte Fuji
acampamento
praia e guarda-sol
deserto
ilha deserta
parque nacional
fonte
barraca
enevoado
noite estrelada
cidade
aurora sobre montanhas
aurora sobre água
cidade ao anoitecer
pôr do sol
ponte à noite
chamas
carrossel
escorregador
roda gigante
montanha russa
barbearia
circo
locomotiva
vagão de trem
trem de alta velocidade
trem de alta velocidade japonês
trem
metrô
trem urbano
estação
bonde elétrico
monotrilho
estrada de ferro na montanha
bonde
ônibus
ônibus se aproximando
trólebus
van
ambulância
carro do corpo de bombeiros
viatura policial
viatura policial se aproximando
táxi
táxi se aproximando
carro
carro se aproximando
SUV
caminhonete
caminhão de entrega
caminhão
trator
carro de corrida
motocicleta
scooter
cadeira de rodas manual
cadeira de rodas motorizada
automóvel riquixá
bicicleta
patinete
skate
patins de rodas
ponto de ônibus
estrada
trilhos
barril de óleo
posto de gasolina
roda
sirene
semáforo horizontal
semáforo vertical
sinal de pare
em construção
âncora
boia
barco a vela
canoa
lancha
cruzeiro
balsa
barco
navio
avião
avião pequeno
avião decolando
avião aterrissando
paraquedas
assento
helicóptero
estrada de ferro suspensa
cabo suspenso usado em teleféricos nas montanhas
teleférico
satélite
foguete
disco voador
sineta
mala
ampulheta
ampulheta contando o tempo
relógio de pulso
despertador
cronômetro
relógio temporizador
relógio de mesa
lua nova
lua crescente côncava
quarto crescente
lua crescente convexa
lua cheia
lua minguante convexa
quarto minguante
lua minguante côncava
lua crescente
rosto da lua nova
rosto da lua de quarto crescente
rosto da lua de quarto minguante
termômetro
sol
rosto da lua cheia
rosto do sol
planeta com anéis
estrela branca média
estrela brilhante
estrela cadente
via láctea
nuvem
sol por trás das nuvens
chuva com trovão
sol com nuvens
nublado
sol com chuva
nuvem com chuva
nuvem com neve
nuvem com trovão
tornado
nevoeiro
rosto de vento
ciclone
arco-íris
guarda-chuva fechado
guarda-chuva
sombrinha na chuva
guarda-sol
alta tensão
floco de neve
boneco de neve
boneco de neve sem neve
cometa
fogo
gota
onda
abóbora de halloween
árvore de natal
fogos de artifício
vela estrela
bombinha
brilhos
balão
cone de festa
confete
árvore de tanabata
decoração de pinhos
bonecas japonesas
bandeira de carpas
carrilhão de vento
contemplação da lua
envelope vermelho
laço de fita
presente
fita de lembrete
ingresso de cinema
ingresso
medalha militar
troféu
medalha esportiva
medalha de ouro
medalha de prata
medalha de bronze
bola de futebol
bola de beisebol
softbol
bola de basquete
bola de vôlei
bola de futebol americano
bola de rugby
tênis
frisbee
boliche
críquete
hóquei de campo
hóquei no gelo
lacrosse
pingue-pongue
badminton
luva de boxe
quimono de artes marciais
gol
bandeira no buraco
patins de gelo
pesca
máscara de mergulho
camiseta de corrida
esqui
trenó
pedra de curling
no alvo
ioiô
pipa
pistola d’água
bilhar
bola de cristal
varinha mágica
videogame
joystick
caça-níquel
jogo de dado
quebra-cabeça
ursinho de pelúcia
pinhata
boneca russa
naipe de espadas
naipe de copas
naipe de ouros
naipe de paus
peão de xadrez
curinga
dragão vermelho de mahjong
carta de flores
máscara
quadro emoldurado
paleta de tintas
carretel
agulha de costura
novelo
nó
óculos
óculos escuros
óculos de proteção
jaleco
colete salva-vidas
gravata
camiseta
jeans
cachecol
luvas
casaco
meias
vestido
quimono
sari
maiô
cueca
shorts
biquíni
roupas femininas
bolsinha
bolsa de mão
bolsa pequena
sacolas de compras
mochila
chinelo
sapato masculino
tênis de corrida
bota de trekking
sapatilha
sapato de salto alto
sandália feminina
sapatilha de balé
bota feminina
coroa
chapéu feminino
cartola
chapéu de formatura
boné
capacete militar
capacacete de socorrista
rosário de oração
batom
anel
pedra preciosa
partitura musical
nota musical
notas musicais
microfone de estúdio
controle de volume
botões giratórios
microfone
fones de ouvido
rádio
saxofone
acordeão
guitarra
teclado musical
trompete
violino
banjo
tambor
tambor comprido
telefone celular
telefone celular com seta
telefone no gancho
telefone
pager
fax
pilha
pouca bateria
tomada elétrica
laptop
computador de mesa
impressora
teclado
mouse
trackball
minidisc
disquete
cd
DVD
ábaco
câmera de cinema
rolo de filmes
projetor de filmes
claquete
televisão
câmera
câmera com flash
câmera de vídeo
videocassete
lupa para a esquerda
lupa para a direita
vela
lâmpada
lanterna
lanterna vermelha de papel
lâmpada de óleo
caderno decorado
livro fechado
livro aberto
livro verde
livro azul
livro laranja
livros
caderno
livro contábil
página dobrada
pergaminho
página voltada para cima
jornal
jornal enrolado
marcadores de página
marcador de página
etiqueta
saco de dinheiro
moeda
nota de iene
nota de dólar
nota de euro
nota de libra
dinheiro voando
cartão de crédito
recibo
gráfico subindo com iene
envelope
e-mail
envelope chegando
envelope com seta
bandeja de saída
bandeja de entrada
pacote
caixa de correio fechada com bandeira levantada
caixa de correio fechada com bandeira abaixada
caixa de correio aberta com bandeira levantada
caixa de correio aberta com bandeira abaixada
caixa de correio
urna eleitoral com cédula
cadeado
cadeado aberto
cadeado com caneta
cadeado fechado com chave
chave
chave antiga
aviso
crianças atravessando
entrada proibida
proibido
proibido andar de bicicleta
proibido fumar
proibido jogar lixo no chão
água não potável
proibida a passagem de pedestres
proibido o uso de telefone celular
proibido para menores de 18 anos
radioativo
risco biológico
sinal de multiplicação
símbolo de adição
símbolo de subtração
símbolo de divisão
sinal de igual
infinito
dupla exclamação
exclamação com interrogação
ponto de interrogação vermelho
ponto de interrogação branco
ponto de exclamação branco
ponto de exclamação vermelho
travessão ondulado
símbolo da medicina
símbolo de reciclagem
flor-de-lis
emblema de tridente
crachá
símbolo japonês de principiante
círculo grande oco
marca de seleção branca
caixa de seleção marcada com tique
marca de seleção
xis
botão de xis
laço encaracolado
loop encaracolado duas vezes
sinal japonês indicando início de música
asterisco de oito pontas
estrela de oito pontas
faísca
símbolo de copyright
símbolo de registrado
símbolo de marca registrada
bandeira quadriculada
bandeira triangular
bandeiras cruzadas
bandeira preta
bandeira branca
bandeira do arco-íris
bandeira transgênero
bandeira de pirata
`;
