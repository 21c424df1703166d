package dev.kagzi.server.web.types;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.ServedType;
import dev.kagzi.engine.query.TypeView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Problem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The list of workflow types, and one type with its versions and its default version. */
public final class TypePages implements PageGroup {
  private static final String ANY_VERSION = "*";

  /**
   * A row of the list.
   *
   * @param served the versions that online workers serve
   */
  public record Row(TypeView type, String defaultVersion, Set<String> served) {

    /** Returns the list of the open runs of a version. */
    public String openHref(Links links, String version) {
      return links.to(
          "/runs",
          "type",
          type.type(),
          "version",
          version,
          "status",
          "PENDING",
          "status",
          "RUNNING",
          "status",
          "SLEEPING");
    }
  }

  /** What the list shows. */
  public record ListModel(List<Row> rows, Paging paging, Links links, String live) {
    public ListModel {
      rows = List.copyOf(rows);
    }
  }

  /**
   * A version of a type.
   *
   * @param workers the online workers that serve it, or any version
   */
  public record Version(String name, long open, int workers, boolean isDefault) {
    public String title() {
      return name.isEmpty() ? "without a version" : name;
    }
  }

  /**
   * What the page of one type shows.
   *
   * @param served by queue and version
   * @param typed the version that was entered; empty for none
   * @param asks whether to confirm the entered version, because no online worker serves it
   */
  public record OneModel(
      TypeView type,
      List<Version> versions,
      List<ServedType> served,
      String typed,
      boolean asks,
      Problem problem,
      Links links) {
    public OneModel {
      versions = List.copyOf(versions);
      served = List.copyOf(served);
    }

    /** Returns a queue for the form that starts a run; empty if there are several, or none. */
    public String queue() {
      Set<String> queues = new TreeSet<>(type.taskQueues());
      served.forEach(one -> queues.add(one.queue()));
      return queues.size() == 1 ? queues.iterator().next() : "";
    }

    /** Returns the question about an entered version that no online worker serves. */
    public String question() {
      return question(new Version(typed, 0, 0, false));
    }

    /** Returns what setting a default does, as a question. */
    public String question(Version version) {
      return "Make "
          + (version.name().isEmpty() ? "no version" : version.name())
          + " the default version of "
          + type.type()
          + "? New runs that are started without a version get it. Runs that exist keep theirs. "
          + switch (version.workers()) {
            case 0 -> "No online worker serves it, so new runs would wait for one.";
            case 1 -> "1 online worker serves it.";
            default -> version.workers() + " online workers serve it.";
          };
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/types", TypePages::list);
    routes.live("/types", request -> PageReply.fragment("types/table", model(request)));
    routes.get("/types/type", request -> one(PageReply.OK, request, "", false, Problem.NONE));
    routes.post("/types/default", TypePages::setDefault);
  }

  private static PageReply list(PageRequest request) {
    return PageReply.page("types/list", request.frame(Nav.TYPES, "Types"), model(request));
  }

  private static ListModel model(PageRequest request) {
    Page<TypeView> page = request.engine().queries().types(request.namespace(), request.pageSpec());
    Map<String, Set<String>> served = new HashMap<>();
    for (ServedType one : request.engine().queries().served(request.namespace(), null, null)) {
      served.computeIfAbsent(one.type(), type -> new TreeSet<>()).add(one.version());
    }
    List<Row> rows =
        page.items().stream()
            .map(
                type ->
                    new Row(
                        type,
                        defaultVersion(request, type.type()),
                        served.getOrDefault(type.type(), Set.of())))
            .toList();
    return new ListModel(rows, Paging.of(request, page), request.links(), request.live("page"));
  }

  private static String defaultVersion(PageRequest request, String type) {
    return request.engine().versions().resolve(request.namespace(), type, "");
  }

  private static PageReply one(
      int status, PageRequest request, String typed, boolean asks, Problem problem) {
    String name = request.query("type").isEmpty() ? request.form("type") : request.query("type");
    Frame frame = request.frame(Nav.TYPES, "Type " + name);
    TypeView type = request.engine().queries().type(request.namespace(), name);
    List<ServedType> served = request.engine().queries().served(request.namespace(), null, name);
    OneModel model =
        new OneModel(
            type, versions(request, type, served), served, typed, asks, problem, request.links());
    return PageReply.page(status, "types/type", frame, model);
  }

  /** Returns the versions that have open runs, that workers serve, and the default. */
  private static List<Version> versions(
      PageRequest request, TypeView type, List<ServedType> served) {
    String defaultVersion = defaultVersion(request, type.type());
    Set<String> names = new TreeSet<>(type.openByVersion().keySet());
    names.add(defaultVersion);
    served.forEach(one -> names.add(one.version()));
    names.remove(ANY_VERSION);
    List<Version> versions = new ArrayList<>();
    for (String name : names) {
      int workers =
          served.stream()
              .filter(one -> one.version().equals(name) || one.version().equals(ANY_VERSION))
              .mapToInt(ServedType::workers)
              .sum();
      versions.add(
          new Version(
              name,
              type.openByVersion().getOrDefault(name, 0L),
              workers,
              name.equals(defaultVersion)));
    }
    return versions;
  }

  private static PageReply setDefault(PageRequest request) {
    String type = request.form("type");
    String version = request.form("version");
    try {
      request.engine().namespaces().get(request.namespace());
      if (version.isEmpty() && !request.form("none").equals("true")) {
        throw Refusal.invalid(
            "version", "\"\"", "a version; the table above has a button for none");
      }
      if (!request.form("confirmed").equals(version) && !isServed(request, type, version)) {
        return one(PageReply.OK, request, version, true, Problem.NONE);
      }
      String before = request.engine().versions().set(request.namespace(), type, version, null);
      return PageReply.redirect(
          request.links().to("/types/type", "type", type),
          Flash.done(
              "The default version is now "
                  + words(version)
                  + (before.equals(version) ? ", as before." : "; it was " + words(before) + ".")));
    } catch (Refusal refusal) {
      return one(PageReply.REFUSED, request, version, false, Problem.of(refusal));
    }
  }

  private static boolean isServed(PageRequest request, String type, String version) {
    return request.engine().queries().served(request.namespace(), null, type).stream()
        .anyMatch(one -> one.version().equals(version) || one.version().equals(ANY_VERSION));
  }

  private static String words(String version) {
    return version.isEmpty() ? "no version" : version;
  }
}
