package dev.kagzi.server.web;

import dev.kagzi.server.web.page.PageReply;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;

/** Renders the templates, which the build has compiled. Thread-safe. */
final class Templates {
  private final TemplateEngine engine =
      TemplateEngine.createPrecompiled(
          null,
          ContentType.Html,
          Templates.class.getClassLoader(),
          "dev.kagzi.server.web.template");

  String render(PageReply.Html html) {
    StringOutput output = new StringOutput();
    engine.render(html.template() + ".jte", html.values(), output);
    return output.toString();
  }
}
