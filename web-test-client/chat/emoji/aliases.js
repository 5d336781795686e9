/** Shortcodes that users of other chats know, for emoji whose English name is another one. */
export const ALIASES = Object.fromEntries(
  `+1👍 thumbsup👍 -1👎 thumbsdown👎 smile😄 smiley😃 grin😁 laughing😆 joy😂 rofl🤣 lol😂 blush😊 innocent😇 wink😉 relieved😌
heart_eyes😍 kissing_heart😘 yum😋 stuck_out_tongue😛 sunglasses😎 smirk😏 unamused😒 pensive😔 confused😕 sob😭 cry😢 rage😡
angry😠 scream😱 flushed😳 sleeping😴 thinking🤔 shrug🤷 facepalm🤦 hugs🤗 wave👋 ok_hand👌 v✌️ clap👏 pray🙏 muscle💪
raised_hands🙌 point_up☝️ point_right👉 point_left👈 handshake🤝 heart❤️ broken_heart💔 sparkles✨ star⭐ fire🔥 100💯 boom💥
zap⚡ tada🎉 party🥳 gift🎁 cake🎂 beer🍺 beers🍻 wine🍷 coffee☕ pizza🍕 rocket🚀 eyes👀 bug🐛 poop💩 ghost👻 robot🤖
white_check_mark✅ check✔️ x❌ warning⚠️ bulb💡 bell🔔 lock🔒 key🔑 hourglass⌛ phone📱 email📧 house🏠 car🚗 airplane✈️
sun☀️ rainbow🌈 snowflake❄️ dog🐶 cat🐱 monkey🐵 sunflower🌻 rose🌹 musical_note🎵 soccer⚽ trophy🏆 dart🎯 camera📷`
    .split(/\s+/).map((each) => /^([\w+-]+)(.+)$/.exec(each).slice(1)),
);
