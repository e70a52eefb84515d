"""Tests with the built program: [DEDUP_STAGE=…/dedup-stage] python -m unittest discover -p test_client.py"""

import asyncio
import gc
import tempfile
import unittest
import warnings

from dedup_stage import DedupStage, DedupStageError
from dedup_stage.aio import AsyncDedupStage

TEXT = " ".join(f"word{n} of a page that says something" for n in range(40))
PAGE = f"<title>One</title><p>{TEXT}</p><a href='/next'>next</a>"


class Client(unittest.TestCase):
    def test_pipes_are_closed_when_the_program_has_ended(self) -> None:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            stage = DedupStage(distance=1000)
            with self.assertRaisesRegex(DedupStageError, "code 2"):
                stage.judge("http://a.test/", "")
            del stage
            gc.collect()
        self.assertEqual([str(warning.message) for warning in warned], [])

    def test_a_copy_is_a_copy(self) -> None:
        with DedupStage() as stage:
            first = stage.judge("http://a.test/1", PAGE, id={"n": 1})
            copy = stage.judge("http://b.test/1", PAGE.encode(), content_type="text/html", id=2)
        self.assertEqual(first["verdict"], "unique")
        self.assertEqual([link["url"] for link in first["links"]], ["http://a.test/next"])
        self.assertEqual((copy["verdict"], copy["duplicate_of"], copy["duplicate_id"]), ("exact", "http://a.test/1", {"n": 1}))
        self.assertEqual(copy["links"], [])

    def test_many_come_back_in_order(self) -> None:
        pages = ({"url": f"http://a.test/{n}", "body": PAGE * 20, "id": n} for n in range(500))
        with DedupStage(threads=3) as stage:
            self.assertEqual([answer["id"] for answer in stage.judge_many(pages)], list(range(500)))
            self.assertEqual(stage.stats()["pages"], 500)

    def test_a_failing_source_is_told(self) -> None:
        def pages():
            yield {"url": "http://a.test/", "body": PAGE}
            raise KeyError("source")

        with DedupStage() as stage:
            with self.assertRaises(KeyError):
                list(stage.judge_many(pages()))
            self.assertEqual(stage.stats()["pages"], 1)

    def test_the_state_is_remembered(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with DedupStage(state=folder) as stage:
                stage.judge("http://a.test/1", PAGE)
                self.assertEqual(stage.flush()["pages"], 1)
            with DedupStage(state=folder) as stage:
                self.assertEqual(stage.judge("http://b.test/", PAGE)["duplicate_of"], "http://a.test/1")

    def test_what_goes_wrong_is_said(self) -> None:
        with self.assertRaisesRegex(DedupStageError, "cannot be started"):
            DedupStage(command="/no/such/program")
        with self.assertRaisesRegex(DedupStageError, "code 2"):
            DedupStage(distance=1000).judge("http://a.test/", "")
        with DedupStage() as stage:
            self.assertEqual(stage.judge("relative", "")["error"]["code"], "bad_url")


class AsyncClient(unittest.IsolatedAsyncioTestCase):
    async def test_many_may_ask_at_once(self) -> None:
        async with AsyncDedupStage() as stage:
            answers = await asyncio.gather(*(stage.judge(f"http://a.test/{n}", PAGE * 50, id=n) for n in range(300)))
            self.assertEqual([answer["id"] for answer in answers], list(range(300)))
            self.assertEqual((await stage.stats())["pages"], 300)

    async def test_a_cancelled_question_does_not_shift_the_answers(self) -> None:
        async with AsyncDedupStage() as stage:
            tasks = [asyncio.create_task(stage.judge(f"http://a.test/{n}", PAGE * 200, id=n)) for n in range(20)]
            await asyncio.sleep(0)
            tasks[3].cancel()
            answers = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertIsInstance(answers[3], asyncio.CancelledError)
            self.assertEqual([answer["id"] for answer in answers if isinstance(answer, dict)], [n for n in range(20) if n != 3])

    async def test_the_end_of_the_program_is_told_to_all(self) -> None:
        stage = AsyncDedupStage(distance=1000)
        await stage.start()
        results = await asyncio.gather(*(stage.judge("http://a.test/", "") for _ in range(5)), return_exceptions=True)
        self.assertTrue(all(isinstance(result, DedupStageError) for result in results), results)
        with self.assertRaisesRegex(DedupStageError, "not running"):
            await stage.judge("http://a.test/", "")
        with self.assertRaisesRegex(DedupStageError, "code 2"):
            await stage.close()

    async def test_who_waits_to_send_when_the_program_ends_is_told(self) -> None:
        stage = AsyncDedupStage(distance=1000)
        await stage.start()
        async with stage._sending:
            late = asyncio.create_task(stage.judge("http://a.test/", ""))
            await stage._reader  # the program has ended
        with self.assertRaisesRegex(DedupStageError, "not running"):
            await late
        with self.assertRaisesRegex(DedupStageError, "code 2"):
            await stage.close()


if __name__ == "__main__":
    unittest.main()
