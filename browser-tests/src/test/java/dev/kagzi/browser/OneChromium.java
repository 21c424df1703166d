package dev.kagzi.browser;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Opens the browser once for all test classes, because that takes seconds. */
final class OneChromium implements BeforeAllCallback {

  @Override
  public void beforeAll(ExtensionContext context) {
    // The store closes what it has when all classes are done.
    BrowserTest.useBrowser(
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(OneChromium.class))
            .computeIfAbsent(Chromium.class, none -> Chromium.open(), Chromium.class));
  }
}
