"""Runs one program of the official Python client against a Kubernetes API server. The tests in test/e2e/clients start it.

Each program prints one JSON object a line and exits with 0; a failure is a traceback and exit code 1.
"""

import argparse
import json
import sys
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.informer import SharedInformer
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

NAMESPACE = "default"
EXPIRED = 410


def say(line):
    # In one write: two threads print.
    print(json.dumps(line) + "\n", end="", flush=True)


def watch_loop(_options):
    """Keeps a copy of the Services as an informer does. For each line on stdin it prints the resourceVersions that it holds."""
    core = client.CoreV1Api()
    held = {}
    threading.Thread(target=print_at_each_line, args=(held,), daemon=True).start()
    while True:
        try:
            listed = core.list_service_for_all_namespaces()
            held.clear()
            held.update({key_of(item): item.metadata.resource_version for item in listed.items})
            follow(core, held, listed.metadata.resource_version)
        except Exception as error:  # the server is away, or the history is gone: list again
            say({"lists again": type(error).__name__, "status": getattr(error, "status", None)})
            time.sleep(0.2)


def follow(core, held, version):
    while True:
        stream = watch.Watch()
        for event in stream.stream(
            core.list_service_for_all_namespaces, resource_version=version, allow_watch_bookmarks=True, timeout_seconds=20
        ):
            if event["type"] == "ERROR":
                raise ApiException(status=event["raw_object"]["code"], reason=event["raw_object"]["message"])
            item = event["object"]
            version = event["raw_object"]["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                held.pop(key_of(item), None)
            elif event["type"] != "BOOKMARK":
                held[key_of(item)] = version


def shared_informer(_options):
    """The package's own informer. For each line on stdin it prints the resourceVersions that it holds."""
    informer = SharedInformer(client.CoreV1Api().list_service_for_all_namespaces)
    informer.start()
    for _ in sys.stdin:
        say({key_of(item): item.metadata.resource_version for item in informer.cache.list()})


def key_of(item):
    return f"{item.metadata.namespace}/{item.metadata.name}"


def print_at_each_line(held):
    for _ in sys.stdin:
        say(dict(held))


def elect(options):
    """Takes part in an election, and prints its identity while it leads."""

    def lead():
        while True:
            say({"leads": options.identity, "at": int(time.time() * 1000)})
            time.sleep(0.05)

    lock = ConfigMapLock("elected-by-python", NAMESPACE, options.identity)
    leaderelection.LeaderElection(
        electionconfig.Config(lock, lease_duration=5, renew_deadline=4, retry_period=1, onstarted_leading=lead, onstopped_leading=None)
    ).run()


def dynamic_client(_options):
    """Writes and reads through the types that the server itself names."""
    services = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="Service")
    body = {"metadata": {"name": "by-python", "labels": {"of": "python"}}, "spec": {"ports": [{"port": 80}]}}
    created = services.create(body=body, namespace=NAMESPACE)
    assert created.spec.clusterIP, created
    patched = services.patch(
        body={"metadata": {"labels": {"more": "yes"}}}, name="by-python", namespace=NAMESPACE, content_type="application/merge-patch+json"
    )
    assert patched.metadata.labels.more == "yes", patched
    applied = services.server_side_apply(
        body={"apiVersion": "v1", "kind": "Service", "metadata": {"name": "by-python", "annotations": {"a": "b"}}},
        name="by-python",
        namespace=NAMESPACE,
        field_manager="python",
    )
    assert applied.metadata.annotations.a == "b", applied
    found = services.get(namespace=NAMESPACE, label_selector="of=python")
    assert [item.metadata.name for item in found.items] == ["by-python"], found
    services.delete(name="by-python", namespace=NAMESPACE)
    try:
        services.get(name="by-python", namespace=NAMESPACE)
        raise AssertionError("it is still there")
    except dynamic.exceptions.NotFoundError:
        say({"address": created.spec.clusterIP})


def create_from_yaml(options):
    """Creates every object of a file, then once more, which every object refuses."""
    api = client.ApiClient()
    made = utils.create_from_yaml(api, options.file)
    try:
        utils.create_from_yaml(api, options.file)
        raise AssertionError("the second time was not refused")
    except utils.FailToCreateError as error:
        reasons = [json.loads(refusal.body)["reason"] for refusal in error.api_exceptions]
    say({"made": [item.kind for group in made for item in group], "refused": reasons})


PROGRAMS = {"watch": watch_loop, "informer": shared_informer, "elect": elect, "dynamic": dynamic_client, "create": create_from_yaml}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--identity", default="")
    parser.add_argument("--file", default="")
    parser.add_argument("program", choices=PROGRAMS)
    options = parser.parse_args()
    config.load_kube_config(config_file=options.kubeconfig)
    PROGRAMS[options.program](options)


main()
