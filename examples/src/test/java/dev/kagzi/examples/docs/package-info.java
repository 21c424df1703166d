/**
 * The Java code of the documentation. Regions between {@code // docs: NAME.md} and {@code // end}
 * are the blocks of that document, word for word. Tests run the workflows among them.
 */
package dev.kagzi.examples.docs;
