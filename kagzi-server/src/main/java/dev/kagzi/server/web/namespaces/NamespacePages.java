package dev.kagzi.server.web.namespaces;

import dev.kagzi.engine.namespace.NamespaceUpdate;
import dev.kagzi.engine.namespace.NamespaceView;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageHandler;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The list of namespaces, the form that creates or changes one, and actions. The parameter {@code
 * name} is the namespace that a page shows or changes; {@code namespace} is the one that is
 * selected in the frame.
 */
public final class NamespacePages implements PageGroup {

  /** What the list shows. */
  public record ListModel(List<NamespaceView> namespaces, Paging paging) {
    public ListModel {
      namespaces = List.copyOf(namespaces);
    }

    /** Returns the overview of a namespace. */
    public String overview(NamespaceView namespace) {
      return new Links(namespace.namespace()).to("/");
    }
  }

  /**
   * What the form shows.
   *
   * @param before the namespace that is changed; null for a new one
   */
  public record FormModel(
      NamespaceForm form, Problem problem, @Nullable NamespaceView before, String back) {
    public String action() {
      return before == null ? "/namespaces/new" : "/namespaces/edit";
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/namespaces", NamespacePages::list);
    routes.get("/namespaces/new", NamespacePages::showNew);
    routes.post("/namespaces/new", NamespacePages::create);
    routes.get("/namespaces/edit", NamespacePages::showOld);
    routes.post("/namespaces/edit", NamespacePages::change);
    action(routes, "/namespaces/enable", request -> enable(request, true));
    action(routes, "/namespaces/disable", request -> enable(request, false));
    action(routes, "/namespaces/forget-handler", NamespacePages::forgetHandler);
  }

  private static void action(PageRoutes routes, String path, PageHandler action) {
    routes.post(path, Answers.refusalsShown(action, NamespacePages::editHref));
  }

  private static PageReply list(PageRequest request) {
    Page<NamespaceView> page = request.engine().namespaces().list(request.pageSpec());
    return PageReply.page(
        "namespaces/list",
        request.frame(Nav.NAMESPACES, "Namespaces"),
        new ListModel(page.items(), Paging.of(request, page)));
  }

  private static PageReply showNew(PageRequest request) {
    return form(PageReply.OK, request, new NamespaceForm("", "", "", ""), Problem.NONE, null);
  }

  private static PageReply showOld(PageRequest request) {
    NamespaceView before = request.engine().namespaces().get(request.query("name"));
    return form(PageReply.OK, request, NamespaceForm.of(before), Problem.NONE, before);
  }

  private static PageReply form(
      int status,
      PageRequest request,
      NamespaceForm form,
      Problem problem,
      @Nullable NamespaceView before) {
    String title = before == null ? "New namespace" : "Namespace " + before.namespace();
    return PageReply.page(
        status,
        "namespaces/form",
        request.frame(Nav.NAMESPACES, title),
        new FormModel(form, problem, before, request.links().to("/namespaces")));
  }

  private static PageReply create(PageRequest request) {
    NamespaceForm form = NamespaceForm.sent(request);
    try {
      request
          .engine()
          .namespaces()
          .create(form.name(), form.displayName(), form.description(), form.retentionMs(), null);
      return PageReply.redirect(
          request.links().to("/namespaces"), Flash.done("Created " + form.name() + "."));
    } catch (Refusal refusal) {
      Problem problem = Problem.of(refusal);
      // The engine calls the name of a namespace "namespace".
      boolean isName = problem.field().equals("namespace");
      return form(
          PageReply.REFUSED,
          request,
          form,
          isName ? new Problem("name", problem.message()) : problem,
          null);
    }
  }

  private static PageReply change(PageRequest request) {
    NamespaceForm form = NamespaceForm.sent(request);
    NamespaceView before = request.engine().namespaces().get(form.name());
    try {
      request.engine().namespaces().update(form.name(), form.update(), null);
      return back(request, "Saved.");
    } catch (Refusal refusal) {
      return form(PageReply.REFUSED, request, form, Problem.of(refusal), before);
    }
  }

  private static PageReply enable(PageRequest request, boolean enabled) {
    String name = request.form("name");
    request.engine().namespaces().setEnabled(name, enabled, null);
    return back(request, name + (enabled ? " is enabled." : " is disabled."));
  }

  private static PageReply forgetHandler(PageRequest request) {
    request
        .engine()
        .namespaces()
        .update(request.form("name"), new NamespaceUpdate(null, null, true, null, false), null);
    return back(request, "The failure handler is removed.");
  }

  private static PageReply back(PageRequest request, String text) {
    return PageReply.redirect(editHref(request), Flash.done(text));
  }

  private static String editHref(PageRequest request) {
    return request.links().to("/namespaces/edit", "name", request.form("name"));
  }
}
