import itertools
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from kubernetes import client

numbers = itertools.count(1)


class WithServicenet(unittest.TestCase):
    """Tests that share a server."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        command = ["servicenet", "serve", "--port", "0", "--insecure-http", "--data-dir", cls.folder.name]
        cls.servicenet = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        ready = next(line for line in cls.servicenet.stdout if "ready at" in line)
        cls.url = ready.split("ready at ")[1].split()[0]
        threading.Thread(target=cls.servicenet.stdout.read, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.servicenet.terminate()
        cls.servicenet.wait()
        cls.servicenet.stdout.close()
        cls.folder.cleanup()

    def cluster(self):
        """A cluster that shares nothing with those of other tests."""
        host = f"{self.url}/clusters/test-{next(numbers)}"
        with urllib.request.urlopen(urllib.request.Request(host, method="PUT")) as answer:
            self.assertEqual(answer.status, 201)
        return client.CoreV1Api(client.ApiClient(client.Configuration(host=host)))


class Services(WithServicenet):
    def create(self, api):
        ports = [client.V1ServicePort(port=80)]
        service = client.V1Service(metadata=client.V1ObjectMeta(name="web"), spec=client.V1ServiceSpec(ports=ports))
        return api.create_namespaced_service("default", service)

    def test_an_address(self):
        self.assertRegex(self.create(self.cluster()).spec.cluster_ip, r"^10\.96\.")

    def test_the_same_name_once(self):
        api = self.cluster()
        self.create(api)
        with self.assertRaises(client.ApiException) as refused:
            self.create(api)
        self.assertEqual(refused.exception.status, 409)


if __name__ == "__main__":
    unittest.main()
