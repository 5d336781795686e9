import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelOf, linkIn, openLink } from '../../page/page-link.js';

const LINK = '#session=1_MX4xMDB-fg&key=100&token=T1%3D%3DcGFy%2Bdg%3D%3D';

test('a link is read as `signalbox link` writes it', () => {
  assert.deepEqual(linkIn(LINK), { access: { apiKey: '100', sessionId: '1_MX4xMDB-fg', token: 'T1==cGFy+dg==' } });
  assert.equal(linkIn(LINK.replace(/T1.*/, 'ey.ey.sig')).access.token, 'ey.ey.sig');
});

test('a code is read as `signalbox link` writes it, and any other is a problem', () => {
  const code = '0123456789abcdef0123456789abcdef';
  assert.deepEqual(linkIn(`#code=${code}`), { code });
  for (const broken of ['', code.slice(1), `${code}0`, code.toUpperCase(), `${code}/../room`]) {
    assert.match(linkIn(`#code=${broken}`).problem, /^brokenLink$/, broken);
  }
});

test('REST-7: a code is exchanged, a used one is a problem, and other links need no request', async () => {
  const access = { apiKey: '100', sessionId: '1_a', token: 'T1==a' };
  const answer = (response) => async (path, body) => {
    assert.deepEqual([path, body], ['./link', { code: 'c' }]);
    return response;
  };
  assert.deepEqual(await openLink({ code: 'c' }, answer(Response.json({ ...access, other: 1 }))), { access });
  assert.match((await openLink({ code: 'c' }, answer(Response.json({}, { status: 404 })))).problem, /^usedLink$/);
  await assert.rejects(openLink({ code: 'c' }, answer(Response.json({}, { status: 502 }))));
  const never = () => assert.fail();
  for (const link of [null, { access }, { problem: 'broken' }]) assert.equal(await openLink(link, never), link);
});

test('a fragment without a link is none', () => {
  for (const fragment of ['', '#', '#chat', '#a=b']) assert.equal(linkIn(fragment), null, fragment);
});

test('a link that lacks a part, or has it in another form, is a problem', () => {
  for (const fragment of [
    '#session=1_a', '#token=T1==a', '#session=1_a&key=&token=T1==a', '#session=lobby&key=100&token=T1==a',
    '#session=1_a&key=100&token=', '#session=1_a&key=100&token=T1==', '#session=1_a&key=100&token=nonsense',
    '#session=%00&key=100&token=T1==a',
  ]) {
    assert.match(linkIn(fragment).problem, /^brokenLink$/, fragment);
  }
});

test('TOK-1 the label of a session is for people to read', () => {
  const id = (last) => `1_${Buffer.from(`1~100~~1700000000000~abc~P~~${last}`).toString('base64url')}`;
  for (const label of ['Team picnic', 'Zoë + 雪', 'a=b']) assert.equal(labelOf(id(`label=${label}`)), label);
  for (const none of [id(''), id('label='), id('other=x'), '1_x', '2_%%%', '']) assert.equal(labelOf(none), null, none);
});
