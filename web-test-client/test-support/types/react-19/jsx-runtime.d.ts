import * as React from './index';

export namespace JSX {
  interface Element extends React.JSX.Element {}
  interface ElementChildrenAttribute extends React.JSX.ElementChildrenAttribute {}
  interface IntrinsicAttributes extends React.JSX.IntrinsicAttributes {}
  interface IntrinsicElements extends React.JSX.IntrinsicElements {}
}
