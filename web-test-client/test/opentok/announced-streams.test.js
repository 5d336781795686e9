// The option `publish=announce`: other clients learn which streams this one publishes, and this one learns of theirs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ada, bob, settled } from '../../test-support/fakes/fake-browser.js';
import { FakeCamera } from '../../test-support/fakes/fake-camera.js';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const cy = { connectionId: 'cy-id', creationTime: 1700000000700, data: 'Cy' };
const described = (streamId, changes = {}) => ({
  streamId, name: 'Ada', hasAudio: true, hasVideo: true, videoType: 'camera', creationTime: 5, ...changes,
});

/** A session that announces, with all events of streams, each in a line. */
function announcing(options = {}) {
  const all = joined({ publish: 'announce', ...options });
  all.camera = all.browser.mediaDevices = new FakeCamera();
  all.heard = [];
  all.session.on('streamCreated streamDestroyed connectionDestroyed sessionDisconnected sessionReconnected', (event) => {
    const { type, stream, reason } = event;
    all.heard.push([type, stream?.id, reason].filter(Boolean).join(' '));
  });
  all.session.on('streamPropertyChanged', ({ stream, changedProperty, oldValue, newValue }) => {
    all.heard.push(`${stream.id} ${changedProperty} ${oldValue} → ${newValue}`);
  });
  let seq = 2;
  all.streams = (connection, streams, reason) => {
    seq += 1;
    all.browser.socket.receive({ ev: 'streams', seq, connection, streams, ...(reason ? { reason } : {}) });
  };
  all.requests = () => all.browser.socket.sent.filter(({ op }) => op === 'streams');
  all.granted = async () => {
    await settled();
    all.camera.grant();
    await settled();
  };
  return all;
}

async function published(all, properties = {}) {
  const publisher = all.OT.initPublisher('target', properties, () => {});
  await all.granted();
  const outcome = [];
  publisher.on('streamCreated', () => outcome.push('streamCreated'));
  publisher.on('streamDestroyed', ({ reason }) => outcome.push(`streamDestroyed ${reason}`));
  all.session.publish(publisher, (error) => outcome.push(error ? [error.name, error.code] : 'published'));
  await settled();
  return { publisher, outcome };
}

const answer = ({ browser }, { id }, error) =>
  browser.socket.receive(error ? { ev: 'error', id, ...error } : { ev: 'ack', id, seq: 2 });

test('STR-2: only a session with the option asks for streams', () => {
  assert.equal(announcing().browser.socket.sent[0].options.streamEvents, true);
  assert.equal('streamEvents' in joined().browser.socket.sent[0].options, false);
});

test('STR-1: publish succeeds when the server knows of the stream; changes and unpublish are told, too', async () => {
  const all = announcing();
  const { publisher, outcome } = await published(all, { name: `${'é'.repeat(127)}a€`, videoSource: null });
  const [request] = all.requests();
  assert.deepEqual(outcome, []);
  assert.deepEqual(request.streams.map(({ streamId, creationTime, ...rest }) => rest), [
    { name: `${'é'.repeat(127)}a`, hasAudio: true, hasVideo: false },
  ]);
  answer(all, request);
  assert.deepEqual(outcome, ['published', 'streamCreated']);
  assert.equal(publisher.stream.id, request.streams[0].streamId);
  publisher.publishAudio(false);
  publisher.publishAudio(true);
  publisher.publishAudio(false);
  assert.equal(all.requests().length, 2, 'one request at a time');
  answer(all, all.requests()[1]);
  assert.equal(all.requests()[2].streams[0].hasAudio, false, 'the newest state');
  answer(all, all.requests()[2]);
  all.session.unpublish(publisher);
  assert.deepEqual(all.requests()[3].streams, []);
  assert.deepEqual(all.heard.at(-1), `${request.streams[0].streamId} hasAudio true → false`);
  assert.equal(all.browser.printed.length, 1);
  assert.match(all.browser.printed[0].join(' '), /other clients learn of the stream/);
});

test('STR-1: a refused stream fails its publish with the server’s error, and leaves the others', async () => {
  const all = announcing();
  const first = await published(all);
  answer(all, all.requests()[0]);
  const second = await published(all);
  const codes = { code: 1605, name: 'OT_STREAM_LIMIT_EXCEEDED', message: 'full' };
  answer(all, all.requests()[1], codes);
  assert.deepEqual(second.outcome, [['OT_STREAM_LIMIT_EXCEEDED', 1605]]);
  assert.deepEqual(first.outcome, ['published', 'streamCreated']);
  assert.equal(all.session.streams.length(), 1);
  const third = await published(all);
  answer(all, all.requests().at(-1), { code: 1500, name: 'OT_PERMISSION_DENIED', message: 'no' });
  answer(all, all.requests().at(-1), { code: 1500, name: 'OT_PERMISSION_DENIED', message: 'no' });
  assert.deepEqual(third.outcome, [['OT_PERMISSION_DENIED', 1500]]);
});

test('STR-4: the client emits the difference to what it knew, after sessionConnected', () => {
  const all = announcing({ changes: { streams: [{ connection: ada, streams: [described('a1')] }] } });
  const { session, heard, streams } = all;
  assert.deepEqual(session.streams.map(({ id }) => id), ['a1']);
  streams(ada, [described('a1', { hasVideo: false }), described('a2')]);
  streams(bob, [described('own')]);
  streams(ada, [described('a2', { hasVideo: false, hasAudio: false })]);
  streams(ada, [], 'forceDisconnected');
  assert.deepEqual(heard, [
    'a1 hasVideo true → false', 'streamCreated a2', 'streamDestroyed a1 clientDisconnected',
    'a2 hasAudio true → false', 'a2 hasVideo true → false', 'streamDestroyed a2 forceDisconnected',
  ]);
  assert.equal(session.streams.length(), 0);
});

test('STR-4: a late joiner gets streamCreated for what is there, with the known connection, as OpenTok’s streams have it', () => {
  const all = joined({ publish: 'announce' });
  all.session.disconnect();
  const found = [];
  all.session.on('streamCreated', ({ stream, target }) => {
    found.push([target === all.session, stream.connection === all.session.connections.get('ada-id'), stream.streamId]);
    const { name, hasAudio, hasVideo, videoType, creationTime } = stream;
    assert.deepEqual({ name, hasAudio, hasVideo, videoType, creationTime, streamId: stream.id }, described('a1'));
  });
  all.session.connect('T1==');
  all.browser.socket.open();
  const { id } = all.browser.socket.sent[0];
  all.browser.socket.receive(resumedMessage(id, {
    outcome: 'new', connections: [ada, bob], streams: [{ connection: ada, streams: [described('a1')] }],
  }));
  assert.deepEqual(found, [[true, true, 'a1']]);
});

test('STR-4: over a resume the streams stay; as another connection the client emits the difference, and announces its own', async () => {
  const all = announcing({
    changes: { ...resumable, streams: [{ connection: ada, streams: [described('a1'), described('a2')] }] },
  });
  const { publisher } = await published(all);
  answer(all, all.requests()[0]);
  all.heard.length = 0;
  const { id } = comeBack(all.browser);
  all.browser.socket.receive(resumedMessage(id));
  all.streams(ada, [described('a2')]);
  assert.deepEqual(all.requests(), [], 'the server knows them');
  assert.deepEqual(all.heard, ['sessionReconnected', 'streamDestroyed a1 clientDisconnected']);
  all.heard.length = 0;
  const again = comeBack(all.browser);
  const own = { ...bob, connectionId: 'bob-2' };
  all.browser.socket.receive(resumedMessage(again.id, {
    outcome: 'lost', connection: own, connections: [cy, own],
    streams: [{ connection: cy, streams: [described('c1')] }],
  }));
  assert.deepEqual(all.heard, [
    'streamDestroyed a2 networkDisconnected', 'connectionDestroyed networkDisconnected',
    'connectionDestroyed networkDisconnected', 'streamCreated c1', 'sessionReconnected',
  ]);
  const [request] = all.requests();
  assert.deepEqual(request.streams.map(({ streamId }) => streamId), [publisher.stream.id]);
  assert.equal(publisher.stream.connection.connectionId, 'bob-2');
});

test('STR-4: a request whose fate is unknown is made again for the new connection, and publish then succeeds', async () => {
  const all = announcing({ changes: resumable });
  const { outcome } = await published(all);
  const { id } = comeBack(all.browser);
  all.browser.socket.receive(resumedMessage(id, { outcome: 'recovered', connection: cy, connections: [ada, cy] }));
  await settled();
  assert.deepEqual(outcome, []);
  answer(all, all.requests().at(-1));
  assert.deepEqual(outcome, ['published', 'streamCreated']);
});

test('STR-4: a list that the server refuses is told again, until it is the server’s, and not any more', async () => {
  const all = announcing();
  const { publisher } = await published(all);
  answer(all, all.requests()[0]);
  publisher.publishVideo(false);
  answer(all, all.requests()[1], { code: 429, name: 'OT_RATE_LIMIT_EXCEEDED', message: 'too fast' });
  all.browser.pass(1999);
  assert.equal(all.requests().length, 2);
  all.browser.pass(1);
  assert.equal(all.requests()[2].streams[0].hasVideo, false);
  // An earlier connection of the page may have the stream for a while.
  answer(all, all.requests()[2], { code: 400, name: 'OT_INVALID_PARAMETER', message: 'another has it' });
  all.browser.pass(4000);
  answer(all, all.requests()[3]);
  all.browser.pass(8000);
  assert.equal(all.requests().length, 4);
  // Back to what the server has: there is nothing to tell.
  publisher.publishVideo(true);
  answer(all, all.requests()[4], { code: 403, name: 'OT_PERMISSION_DENIED', message: 'muted' });
  publisher.publishVideo(false);
  answer(all, all.requests()[5], { code: 403, name: 'OT_PERMISSION_DENIED', message: 'muted' });
  const count = all.requests().length;
  all.session.disconnect();
  all.browser.pass(120000);
  assert.equal(all.requests().length, count);
});

for (const [name, end] of Object.entries({
  'a moderator removes the client': ({ browser }) => browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected' }),
  'the program leaves': ({ session }) => session.disconnect(),
  'the program leaves while the client reconnects': ({ browser, session }) => {
    browser.socket.drop(1006);
    session.disconnect();
  },
})) {
  test(`STR-4: ${name} while a list is on its way: the publish fails once, and nothing is asked again`, async () => {
    const all = announcing({ changes: resumable });
    const { outcome } = await published(all);
    const count = all.requests().length;
    end(all);
    await settled();
    all.browser.pass(60000);
    await settled();
    assert.equal(outcome.length, 1);
    assert.equal(outcome[0][1], 1500);
    assert.equal(all.requests().length, count);
    assert.deepEqual(all.browser.printed.filter((line) => /call stack/.test(line.join(' '))), []);
  });
}

test('STR-1: what the program mutes while the server is asked is told, and the stream has it', async () => {
  const all = announcing();
  const { publisher } = await published(all);
  publisher.publishAudio(false);
  answer(all, all.requests()[0]);
  assert.equal(publisher.stream.hasAudio, false);
  assert.equal(all.requests()[1].streams[0].hasAudio, false);
});

test('STR-4: a handler that disconnects gets no second change of a stream', () => {
  const all = announcing();
  all.streams(ada, [described('s')]);
  all.session.on('streamPropertyChanged', () => all.session.disconnect());
  all.streams(ada, [described('s', { hasAudio: false, hasVideo: false })]);
  assert.equal(all.heard.filter((line) => line.includes('→')).length, 1);
});

test('STR-4: the end of the session ends everything without streamDestroyed of the others', async () => {
  const all = announcing({ changes: { streams: [{ connection: ada, streams: [described('a1')] }] } });
  const { publisher, outcome } = await published(all);
  answer(all, all.requests()[0]);
  const stream = all.session.streams.get('a1');
  const subscriber = all.session.subscribe(stream, null, {}, () => {});
  all.session.disconnect();
  await settled();
  assert.deepEqual(all.heard, ['sessionDisconnected clientDisconnected']);
  assert.deepEqual(outcome.slice(2), ['streamDestroyed clientDisconnected']);
  assert.deepEqual([publisher.stream, all.session.streams.length()], [null, 0]);
  assert.deepEqual(all.session.getSubscribersForStream(subscriber.stream), []);
});

test('STR-4: a handler that disconnects gets no further events', () => {
  const all = announcing({ changes: resumable });
  all.session.on('streamCreated', () => all.session.disconnect());
  all.streams(ada, [described('a1'), described('a2')]);
  assert.deepEqual(all.heard, ['streamCreated a1']);
  assert.equal(all.session.streams.length(), 0);
});

test('subscribe to a stream of another client succeeds; its subscribers go with it unless the program prevents that', async () => {
  const all = announcing({ changes: { streams: [{ connection: ada, streams: [described('a1'), described('a2')] }] } });
  const { session } = all;
  const [kept, gone] = ['a1', 'a2'].map((id) => session.streams.get(id));
  const outcome = [];
  for (const stream of [kept, gone]) {
    session.subscribe(stream, 'place', { insertMode: 'append' }, (error, subscriber) => {
      outcome.push([error, subscriber.stream === stream, subscriber.session === session]);
    });
  }
  await settled();
  assert.deepEqual(outcome, [[undefined, true, true], [undefined, true, true]]);
  const destroyed = [];
  const [subscriber] = session.getSubscribersForStream(gone);
  subscriber.on('destroyed', () => destroyed.push('a2'));
  session.getSubscribersForStream(kept)[0].on('destroyed', () => destroyed.push('a1'));
  session.on('streamDestroyed', (event) => event.stream === kept && event.preventDefault());
  all.streams(ada, []);
  assert.deepEqual(destroyed, ['a2']);
  assert.equal(session.unsubscribe(session.getSubscribersForStream(kept)[0]), session);
  assert.deepEqual(destroyed, ['a2', 'a1']);
  await assert.rejects(session.subscribe.promise(gone, 'place'), { name: 'OT_NOT_SUPPORTED' });
});

test('STR-2: an event of streams that is malformed ends the connection, as any other', () => {
  for (const streams of [undefined, [{}], [{ streamId: 'a' }], 'all']) {
    const all = announcing();
    all.browser.socket.receive({ ev: 'streams', seq: 3, connection: ada, streams });
    assert.equal(all.session.isConnected(), false, JSON.stringify(streams));
  }
});
